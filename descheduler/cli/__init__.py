"""The command line: flags in, one document or message and an exit code out. Nothing is decided here."""

"""Flags, each group in a module that adds it to a command and reads its values."""

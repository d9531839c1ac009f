"""How the program ends: exit codes, errors in words, signals."""

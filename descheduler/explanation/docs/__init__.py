"""What plugins say of themselves: docstrings of their modules and arguments, read from the source."""

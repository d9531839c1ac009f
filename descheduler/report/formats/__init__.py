"""Documents as text, in every format of `--output`."""

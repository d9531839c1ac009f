"""A kind of objects that is not part of the program: one module with its decoder and its row of the kinds table."""

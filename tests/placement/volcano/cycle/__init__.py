"""A whole scheduling cycle of Volcano, which the product does not run: what its answers are compared with."""

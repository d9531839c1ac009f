"""Mutants: one operator of the package is changed, and tests near its module have to notice."""

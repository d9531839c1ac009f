"""Neighbourhoods as models of OR-Tools' CP-SAT. Only this package imports it, and only when one is solved."""

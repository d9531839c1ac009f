"""Neighbourhoods as models of OR-Tools' CP-SAT, which is imported only when one is solved."""

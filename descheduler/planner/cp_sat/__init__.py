"""Neighbourhoods as models of OR-Tools' CP-SAT, the only place that imports it, and only when one is solved."""

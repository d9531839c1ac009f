"""Figures: speed and memory, printed by `make bench`. No test depends on them."""

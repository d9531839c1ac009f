"""Placed pods counted by their labels, on each node."""

"""LowNodeLoad and its parts."""

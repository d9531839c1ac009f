"""Trials of the planner against bounds, greedy rivals and upstream's order: `python -m tests.bench.planner --help`."""

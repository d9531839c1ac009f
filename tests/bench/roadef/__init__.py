"""The ROADEF/EURO challenge 2012 solved by the planner: `python -m tests.bench.roadef --help`."""

"""The planner beside what users would pick instead, on the data of others: `python -m tests.bench.planner.versus`."""

"""Migration jobs: one pod each, taken from its node to the next in steps that any later run can go on with."""

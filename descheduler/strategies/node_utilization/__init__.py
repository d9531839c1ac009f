"""What LowNodeUtilization and HighNodeUtilization share: usage, thresholds, classes of nodes, and emptying them.

LowNodeLoad, whose usage and thresholds are of another kind, puts its levels into the same words.
"""

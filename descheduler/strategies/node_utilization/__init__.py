"""What LowNodeUtilization and HighNodeUtilization share: usage, thresholds, classes of nodes, and emptying them."""

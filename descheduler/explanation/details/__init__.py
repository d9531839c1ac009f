"""What exactly is missing on a node, or who is in the way: one module a family of scheduling plugins."""

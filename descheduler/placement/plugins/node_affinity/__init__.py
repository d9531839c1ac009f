"""`NodeAffinity`: the nodes that a pod asks for, and those that it prefers."""

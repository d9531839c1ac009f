"""Which of the nodes that take a pod are better: one module a plugin, named after it."""

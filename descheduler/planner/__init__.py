"""Which moves are best, and in which order: bounds, plans and their replay, over arrays, without Kubernetes."""

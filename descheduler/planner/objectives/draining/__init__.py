"""DrainNodes over a cluster: the nodes that it drains, and those that receive no pods while it does."""

"""Ways to hold room on a node for the replacement of a pod before the pod is evicted."""

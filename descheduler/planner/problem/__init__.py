"""The cluster as the arrays that the optimizer works on: pods, nodes, rules and costs."""

"""The cluster as the arrays that the planner works on: pods, nodes, rules and costs."""

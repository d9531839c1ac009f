"""LowNodeLoad: arguments, pools of nodes, their measured load, and who leaves the overutilized ones."""

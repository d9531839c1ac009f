"""NodeFit: the descheduler's own quick check whether a pod could run on a node."""

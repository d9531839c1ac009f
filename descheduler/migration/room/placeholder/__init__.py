"""Room held by a pod of the lowest priority, which the scheduler places and the replacement preempts."""

"""Why one pod, node or plugin stands where it stands: the logic behind `descheduler explain`."""

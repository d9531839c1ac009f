"""Can a pod land elsewhere, and if not, why."""

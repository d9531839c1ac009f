"""A Kubernetes descheduler that plans first; see `evaluate` for the Python API."""

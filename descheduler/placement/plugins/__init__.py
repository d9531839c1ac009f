"""The scheduling plugins, each by its Kubernetes name, and their table."""

"""Which nodes take a pod: one module a plugin, named after it."""

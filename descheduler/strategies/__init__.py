"""Which pods should leave: one module a plugin, and one table of them all."""

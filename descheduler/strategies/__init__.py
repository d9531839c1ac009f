"""Which pods should leave: one module a plugin, by its name; `cycle.plugins` lists them all."""

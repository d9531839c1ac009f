"""The schedulers of a cluster: one table, a row for each that is modelled."""

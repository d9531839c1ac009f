"""The objectives of MigrationPlanner, each over a cluster: one module each, and one row of `table`."""

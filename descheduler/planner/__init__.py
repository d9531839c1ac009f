"""The plugin MigrationPlanner: arguments, the cluster as the optimizer's problem, and the plan asked of the evictor."""

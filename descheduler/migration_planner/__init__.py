"""The plugin MigrationPlanner: arguments, the cluster as the planner's problem, and the plan asked of the evictor."""

"""The planner's objectives, one folder each."""

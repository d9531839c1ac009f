"""What a run tells of its evictions and jobs while it makes them: Events, and whoever else listens."""

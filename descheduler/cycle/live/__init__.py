"""What a run does to a cluster, and what it leaves there for people and the next run to read."""

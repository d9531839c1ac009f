"""A run that is watched while it decides, so that each decision can be explained."""

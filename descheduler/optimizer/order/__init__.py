"""The order of a plan: waves in which both ends hold every pod that moves, and a replay that finds what breaks."""

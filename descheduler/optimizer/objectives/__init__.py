"""The optimizer's objectives, one folder each."""

"""Judges moves once more, right before their evictions, by what the cluster is now."""

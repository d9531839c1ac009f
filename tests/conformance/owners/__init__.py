"""Recorded cases of what controllers do after an eviction, and of what the Eviction API answers."""

"""Metrics: what is counted, as text, pushed and written."""

"""Logs: what a run says about itself while it runs."""

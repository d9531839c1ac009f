"""Logs, metrics and traces: what a run says about itself while it goes on and when it ends."""

"""Volcano: its scheduling session over the shadow cluster."""

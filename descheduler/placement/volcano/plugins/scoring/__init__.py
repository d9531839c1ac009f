"""Plugins of Volcano that score nodes."""

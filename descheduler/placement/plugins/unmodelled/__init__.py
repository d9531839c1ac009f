"""Plugins of schedulers that are known and not asked."""

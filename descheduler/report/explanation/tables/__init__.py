"""Explanations as tables."""

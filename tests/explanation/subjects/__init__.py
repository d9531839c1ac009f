"""Explanations of objects of Koordinator."""

"""Recorded cases of Koordinator 1.8: a module for each subject, which answers through the product's own code."""

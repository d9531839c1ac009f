"""Scheduling plugins that are not part of the program: each is one module and one row over the public seams."""

"""Cycle after cycle of a policy on a dump: each is carried out there, and the next one decides on the result."""

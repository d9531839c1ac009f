"""Strict reading of YAML and JSON: bounded, with the place of every value, and typed with every fault reported."""

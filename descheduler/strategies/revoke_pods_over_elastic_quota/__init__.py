"""Elastic quotas that use more than they may, and whose pods are to leave for it."""

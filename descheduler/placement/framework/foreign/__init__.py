"""Scheduling plugins that are not of this program: what they answer is checked, and their faults stay theirs."""

"""Carries a plan out: evictions at a safe pace, each with one outcome."""

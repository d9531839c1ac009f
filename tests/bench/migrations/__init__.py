"""Hundreds of migrations on a real control plane, with what they cost it; `make bench-migrations`."""

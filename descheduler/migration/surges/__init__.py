"""Workloads with one replica, scaled to two for as long as their pod moves."""

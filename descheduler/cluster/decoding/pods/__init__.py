"""Pods, the bulk of every cluster: their parts, decoded once for all replicas that share them."""

"""Volumes: what pods mount, what holds it, and drivers that were part of Kubernetes."""

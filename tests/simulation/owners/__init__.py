"""Random clusters with owners of all kinds: what a simulation says of them, beside what controllers do by the rules.

The controllers here are written from rules that were recorded on kube-controller-manager 1.36 and share nothing with
the product, which is to come to the same pods. `python -m tests.simulation.owners` tries many clusters.
"""

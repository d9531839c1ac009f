"""Snapshots of a cluster: from the live API, from a dump, from objects. Nothing here decides anything."""

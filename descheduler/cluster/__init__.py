"""Snapshots of a cluster: from the live API, from a dump, generated. Nothing here decides anything."""

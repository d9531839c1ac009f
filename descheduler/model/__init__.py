"""Kubernetes objects as decoded, frozen values; pure rules over them. Nothing here does I/O or decides anything."""

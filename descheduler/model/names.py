"""Names that objects of Kubernetes may have."""

from __future__ import annotations

import re

__all__ = ["is_subdomain"]

_MOST_CHARACTERS = 253
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")


def is_subdomain(text: str) -> bool:
    """Whether this is a DNS subdomain, as names of nodes are (`IsDNS1123Subdomain` of k8s.io/apimachinery 0.36)."""
    return len(text) <= _MOST_CHARACTERS and _SUBDOMAIN.match(text) is not None

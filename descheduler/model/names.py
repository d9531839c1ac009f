"""Names that objects of Kubernetes may have, and keys in them."""

from __future__ import annotations

import re

__all__ = ["is_name_part", "is_qualified_name", "is_subdomain"]

_MOST_CHARACTERS = 253
_MOST_CHARACTERS_OF_PART = 63
_NAME_PART = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?\Z")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")


def is_subdomain(text: str) -> bool:
    """Whether this is a DNS subdomain, as names of nodes are (`IsDNS1123Subdomain` of k8s.io/apimachinery 0.36)."""
    return len(text) <= _MOST_CHARACTERS and _SUBDOMAIN.match(text) is not None


def is_name_part(text: str) -> bool:
    """Whether a qualified name may have this after its prefix, and a label as its value."""
    return len(text) <= _MOST_CHARACTERS_OF_PART and _NAME_PART.match(text) is not None


def is_qualified_name(text: str) -> bool:
    """Whether this is a name with an optional domain, as keys of labels and names of resources are.

    Mirrors `IsQualifiedName` of k8s.io/apimachinery 0.36.
    """
    prefix, slash, name = text.rpartition("/")
    return is_name_part(name) and (not slash or is_subdomain(prefix))

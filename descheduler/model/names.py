"""Names that objects of Kubernetes may have, and keys in them."""

from __future__ import annotations

import re

from descheduler.model.requests import CPU, EPHEMERAL_STORAGE, MEMORY

STANDARD_RESOURCES = (CPU, MEMORY, EPHEMERAL_STORAGE)
"""Those that every node has."""
_HUGEPAGES = "hugepages-"
_OF_QUOTAS = "requests."
_OF_KUBERNETES = "kubernetes.io/"
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


def is_container_resource(name: str) -> bool:
    """Whether a container can request a resource of this name; others are refused when the pod is created.

    Without a domain these are the standard ones and hugepages of some size; with one, all but those of quotas
    (`validateContainerResourceName` of Kubernetes 1.36, `pkg/apis/core/validation`).
    """
    if not is_qualified_name(name):
        return False
    if "/" in name:
        return not name.startswith(_OF_QUOTAS)
    return name in STANDARD_RESOURCES or name.startswith(_HUGEPAGES)


def is_extended_resource(name: str) -> bool:
    """Whether a resource is somebody else's, such as `example.com/gpu`: `kubernetes.io/` marks Kubernetes' own."""
    return "/" in name and _OF_KUBERNETES not in name and not name.startswith(_OF_QUOTAS)

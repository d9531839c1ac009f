"""Names of resources, as the API server accepts them in what containers request."""

from __future__ import annotations

from descheduler.model.names import is_qualified_name
from descheduler.model.requests import CPU, EPHEMERAL_STORAGE, MEMORY

__all__ = ["STANDARD_RESOURCES", "is_container_resource", "is_extended_resource"]

STANDARD_RESOURCES = (CPU, MEMORY, EPHEMERAL_STORAGE)
"""Those that every node has."""

_HUGEPAGES = "hugepages-"
_OF_QUOTAS = "requests."
_OF_KUBERNETES = "kubernetes.io/"


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

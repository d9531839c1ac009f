"""Quality-of-service classes as the descheduler derives them (`kubernetes/pkg/apis/core/helper/qos`)."""

from __future__ import annotations

from collections.abc import Iterable

from descheduler.model.requests import CPU, MEMORY, ContainerResources, ResourceList

__all__ = ["BEST_EFFORT", "BURSTABLE", "GUARANTEED", "qos_class"]

BEST_EFFORT = "BestEffort"
BURSTABLE = "Burstable"
GUARANTEED = "Guaranteed"


def qos_class(containers: Iterable[ContainerResources]) -> str:
    """The class that cpu and memory of all containers, init containers included, add up to."""
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    all_limited = True
    for container in containers:
        _add_positive(requests, container.requests)
        all_limited &= _add_positive(limits, container.limits) == 2
    if not requests and not limits:
        return BEST_EFFORT
    if all_limited and len(requests) == len(limits) and all(limits.get(r) == nano for r, nano in requests.items()):
        return GUARANTEED
    return BURSTABLE


def _add_positive(total: dict[str, int], resources: ResourceList) -> int:
    found = 0
    for name in (CPU, MEMORY):
        nano = resources.get(name, 0)
        if nano > 0:
            total[name] = total.get(name, 0) + nano
            found += 1
    return found

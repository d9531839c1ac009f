"""The resources that a pod asks for (`k8s.io/component-helpers/resource.PodRequests`, 0.36)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

__all__ = ["CPU", "EPHEMERAL_STORAGE", "MEMORY", "PODS", "ContainerResources", "ResourceList", "pod_requests"]

CPU = "cpu"
MEMORY = "memory"
PODS = "pods"
EPHEMERAL_STORAGE = "ephemeral-storage"

ResourceList = Mapping[str, int]
"""Resource name → quantity in nano units."""


class ContainerResources(msgspec.Struct, frozen=True):
    """What one container asks for and may use, and whether it is a sidecar (a restartable init container)."""

    requests: ResourceList
    limits: ResourceList
    is_sidecar: bool = False


def pod_requests(
    containers: Iterable[ContainerResources],
    init_containers: Iterable[ContainerResources],
    *,
    pod_level: ResourceList,
    overhead: ResourceList,
) -> dict[str, int]:
    """The effective request of a pod per resource, in nano units.

    Sum of the containers and sidecars, or the highest moment of the init sequence where that is more; a pod-level
    request of cpu, memory or hugepages replaces the derived value; overhead comes on top. A resource appears when any
    of the lists names it, even with zero.
    """
    total: dict[str, int] = {}
    for container in containers:
        _add(total, container.requests)
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in init_containers:
        if container.is_sidecar:
            _add(total, container.requests)
            _add(sidecars, container.requests)
            moment = sidecars
        else:
            moment = dict(sidecars)
            _add(moment, container.requests)
        _raise_to(peak, moment)
    _raise_to(total, peak)
    if any(_is_pod_level(name) for name in pod_level):
        total.update({name: nano for name, nano in pod_level.items() if _is_pod_level(name)})
    _add(total, overhead)
    return total


def _is_pod_level(name: str) -> bool:
    return name in (CPU, MEMORY) or name.startswith("hugepages-")


def _add(total: dict[str, int], extra: ResourceList) -> None:
    for name, nano in extra.items():
        total[name] = total.get(name, 0) + nano


def _raise_to(total: dict[str, int], floor: ResourceList) -> None:
    for name, nano in floor.items():
        if name not in total or total[name] < nano:
            total[name] = nano

"""The resources that a pod asks for (`k8s.io/component-helpers/resource.PodRequests`, 0.37)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from descheduler.model.quantity import ceil_milli, ceil_value

BEST_EFFORT = "BestEffort"
BURSTABLE = "Burstable"
GUARANTEED = "Guaranteed"
CPU = "cpu"
MEMORY = "memory"
PODS = "pods"
EPHEMERAL_STORAGE = "ephemeral-storage"
ResourceList = Mapping[str, int]
"""Resource name → quantity in nano units."""
NO_REQUESTS: ResourceList = {}
"""None of any resource."""
_SCORING_DEFAULTS: ResourceList = {CPU: 100 * 10**6, MEMORY: 200 * 2**20 * 10**9}
"""What the scheduler's scores take a container to want that asks for no cpu, or no memory (`pkg/scheduler/util`)."""


class ContainerResources(msgspec.Struct, frozen=True):
    """What one container asks for and may use, and whether it is a sidecar (a restartable init container)."""

    requests: ResourceList
    limits: ResourceList
    is_sidecar: bool = False


class ResizedRequests(msgspec.Struct, frozen=True, gc=False):
    """What a pod holds while its status says other amounts than its spec, in nano units, per ledger of the scheduler.

    `requests` stands in for those of the spec, `scoring_requests` for the cpu and memory that scores charge. Both count
    the most of what each container asks for, was promised and was given. `summed` counts the most of the three sums
    over all containers, as kube-scheduler does from 1.37 on; None where that is the same.
    """

    requests: ResourceList
    scoring_requests: ResourceList
    summed: ResizedRequests | None = None


def ceil_amount(resource: str, nano: int) -> int:
    """`nano` units in thousandths of a cpu, or in whole units of everything else, rounded up."""
    return ceil_milli(nano) if resource == CPU else ceil_value(nano)


def pod_requests(
    containers: Iterable[ContainerResources],
    init_containers: Iterable[ContainerResources],
    *,
    pod_level: ResourceList,
    overhead: ResourceList,
    defaults: ResourceList = NO_REQUESTS,
) -> dict[str, int]:
    """The effective request of a pod per resource, in nano units.

    Sum of the containers and sidecars, or the highest moment of the init sequence where that is more; a pod-level
    request of cpu, memory or hugepages replaces the derived value; overhead comes on top. A resource appears when any
    of the lists names it, even with zero. A container that lacks one of `defaults` is charged with it.
    """
    total: dict[str, int] = {}
    for container in containers:
        _add(total, _filled(container.requests, defaults))
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in init_containers:
        requests = _filled(container.requests, defaults)
        if container.is_sidecar:
            _add(total, requests)
            _add(sidecars, requests)
            moment = sidecars
        else:
            moment = dict(sidecars)
            _add(moment, requests)
        _raise_to(peak, moment)
    _raise_to(total, peak)
    total.update(pod_level_requests(pod_level))
    _add(total, overhead)
    return total


def pod_limits(
    containers: Iterable[ContainerResources], init_containers: Iterable[ContainerResources], *, overhead: ResourceList
) -> dict[str, int]:
    """The effective limit of a pod per resource, in nano units, as far as containers have one.

    Overhead comes on top of the limits that there are (`resource.PodLimits`, 0.36). Limits of the pod as a whole are
    left out of account.
    """
    limits, init_limits = (
        [ContainerResources(each.limits, NO_REQUESTS, each.is_sidecar) for each in group]
        for group in (containers, init_containers)
    )
    total = pod_requests(limits, init_limits, pod_level=NO_REQUESTS, overhead=NO_REQUESTS)
    return {name: nano + overhead.get(name, 0) for name, nano in total.items()}


def pod_level_requests(requests: ResourceList) -> ResourceList:
    """The requests of a pod itself that replace what its containers ask for: cpu, memory and hugepages."""
    return {name: nano for name, nano in requests.items() if name in (CPU, MEMORY) or name.startswith("hugepages-")}


def scoring_requests(
    containers: Sequence[ContainerResources],
    init_containers: Sequence[ContainerResources],
    *,
    pod_level: ResourceList,
    overhead: ResourceList,
    has_pod_level: bool,
) -> ResourceList:
    """The cpu and memory, in nano units, that the scheduler's scores charge the node of a pod with.

    A container that asks for none is charged with a little; where the pod states requests of its own
    (`has_pod_level`), only of what nothing in the pod asks for (`pkg/scheduler/framework.PodInfo`, 1.36).
    """
    stated = NO_REQUESTS
    if has_pod_level:
        stated = pod_requests(containers, init_containers, pod_level=pod_level, overhead=overhead)
    defaults = scoring_defaults(stated, has_pod_level=has_pod_level)
    total = pod_requests(containers, init_containers, pod_level=pod_level, overhead=overhead, defaults=defaults)
    return {CPU: total.get(CPU, 0), MEMORY: total.get(MEMORY, 0)}


def scoring_defaults(stated: ResourceList, *, has_pod_level: bool) -> ResourceList:
    """What scores charge a container with that asks for none, in a pod of the effective requests `stated`."""
    if not has_pod_level:
        return _SCORING_DEFAULTS
    return {name: nano for name, nano in _SCORING_DEFAULTS.items() if name not in stated}


def incoming_scoring_requests(
    containers: Sequence[ContainerResources], init_containers: Sequence[ContainerResources], *, overhead: ResourceList
) -> ResourceList:
    """The cpu and memory, in nano units, that scores charge a pod with while it is to be placed.

    Requests of the pod as a whole are left out of account (`noderesources/resource_allocation.go`, 1.36).
    """
    total = pod_requests(
        containers, init_containers, pod_level=NO_REQUESTS, overhead=overhead, defaults=_SCORING_DEFAULTS
    )
    return {CPU: total.get(CPU, 0), MEMORY: total.get(MEMORY, 0)}


def highest(lists: Iterable[ResourceList]) -> dict[str, int]:
    """The most of each resource that any of `lists` names."""
    total: dict[str, int] = {}
    for each in lists:
        _raise_to(total, each)
    return total


def _filled(requests: ResourceList, defaults: ResourceList) -> ResourceList:
    return {**defaults, **requests} if defaults else requests


def _add(total: dict[str, int], extra: ResourceList) -> None:
    for name, nano in extra.items():
        total[name] = total.get(name, 0) + nano


def _raise_to(total: dict[str, int], floor: ResourceList) -> None:
    for name, nano in floor.items():
        if name not in total or total[name] < nano:
            total[name] = nano


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

"""Usage in percent, the thresholds that apply, and how much of a node a threshold leaves.

Percentages are IEEE doubles, evaluated in the order of kubernetes-sigs/descheduler 0.36
`pkg/framework/plugins/nodeutilization/nodeutilization.go`, because whole pods depend on the last bit. Quantities are
integers in nano units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from descheduler.model.node import Node
from descheduler.model.quantity import NANO
from descheduler.model.requests import CPU, ResourceList, ceil_amount
from descheduler.strategies.node_utilization.usage import METRIC_RESOURCE

_NANO_IN_MILLI = NANO // 1000


def capacity_of(node: Node) -> ResourceList:
    """What `node` has: its allocatable resources, or its capacity while it reports none."""
    return {**(node.allocatable or node.capacity), METRIC_RESOURCE: 100 * NANO}


def usage_percent(usage: ResourceList, capacity: ResourceList) -> dict[str, float]:
    """Percent of `capacity` in use; a resource that the node does not have is left out, one of size 0 is unused."""
    return {
        resource: _percent(resource, nano, capacity[resource])
        for resource, nano in usage.items()
        if resource in capacity
    }


def _percent(resource: str, used: int, available: int) -> float:
    whole = ceil_amount(resource, available)
    return float(ceil_amount(resource, used)) / float(whole) * 100 if whole > 0 else 0.0


def average_percent(percents: Iterable[Mapping[str, float]], resources: Iterable[str]) -> dict[str, float]:
    """The mean of each resource over those of `percents` that have it, summed in the given order."""
    wanted = tuple(resources)
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    for percent in percents:
        for resource in wanted:
            if resource in percent:
                sums[resource] = sums.get(resource, 0.0) + percent[resource]
                counts[resource] = counts.get(resource, 0) + 1
    return {resource: total / counts[resource] for resource, total in sums.items()}


def shifted_percent(average: Mapping[str, float], distance: Mapping[str, float], *, sign: int) -> dict[str, float]:
    """`average` moved up (`sign` 1) or down (-1) by `distance`, kept within 0 and 100."""
    return {
        resource: clamp(percent + sign * distance.get(resource, 0.0), 0, 100) for resource, percent in average.items()
    }


def clamp(value: float, least: float, most: float) -> float:
    """`value`, or the nearest of the two bounds."""
    return min(max(value, least), most)


def ceiling_of(capacity: ResourceList, high: Mapping[str, float], resource: str) -> int:
    """How much of `resource` a node may use: the share that `high` grants, cut off to whole units (cpu: milli).

    A resource without a threshold may be used in full, one that the node lacks not at all.
    """
    if resource not in capacity:
        return 0
    if resource not in high:
        return capacity[resource]
    return part_of(capacity[resource], high[resource], resource)


def part_of(nano: int, percent: float, resource: str) -> int:
    """`percent` of an amount, cut off to whole units (cpu: milli)."""
    return int(percent * 0.01 * float(ceil_amount(resource, nano))) * (_NANO_IN_MILLI if resource == CPU else NANO)

"""Thresholds of a pool as they are in effect: for which resources, in percent, and as amounts of a node.

Mirrors koordinator-sh/koordinator 1.8 `newThresholds` and `getNodeThresholds` in
`pkg/descheduler/framework/plugins/loadaware`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from descheduler.model.quantity import ceil_milli
from descheduler.model.requests import MEMORY, ResourceList, ceil_amount
from descheduler.strategies.low_node_load.pools import NodePool, StatedThresholds
from descheduler.strategies.node_utilization.thresholds import part_of

__all__ = ["LoadThresholds", "average_percent", "resources_of", "usage_percent"]

_FULL, _NO_DISTANCE = 100.0, 0.0


def resources_of(pool: NodePool) -> tuple[str, ...]:
    """The resources that any threshold of `pool` names, and memory, in name order."""
    stated = (pool.node.low, pool.node.high, pool.prod.low, pool.prod.high)
    return tuple(sorted({MEMORY, *(resource for percent in stated for resource in percent)}))


class LoadThresholds(msgspec.Struct, frozen=True):
    """One pair of maps in effect, percent by resource. With an `average` they are distances from it.

    A resource that the low map does not name has no effect, whatever the high one says of it.
    """

    stated: StatedThresholds
    low: Mapping[str, float]
    high: Mapping[str, float]
    average: Mapping[str, float] | None = None

    @classmethod
    def of(
        cls, stated: StatedThresholds, resources: Iterable[str], average: Mapping[str, float] | None = None
    ) -> LoadThresholds:
        """Those that `stated` comes to over `resources`."""
        neutral = _FULL if average is None else _NO_DISTANCE
        missing = {resource: neutral for resource in resources if resource not in stated.low}
        return cls(stated, {**stated.low, **missing}, {**stated.high, **missing}, average)

    def low_amounts(self, capacity: ResourceList) -> ResourceList:
        """The low thresholds of a node with this capacity, in nano units."""
        return self._amounts(capacity, self.low, sign=-1)

    def high_amounts(self, capacity: ResourceList) -> ResourceList:
        """The high thresholds of a node with this capacity, in nano units; 0 where only the low map has a resource."""
        return self._amounts(capacity, self.high, sign=1)

    def effective(self, percent: Mapping[str, float], resource: str, *, sign: int) -> float:
        """The percent of allocatable that `percent` (one of the two maps) comes to."""
        stated = percent.get(resource, 0.0)
        if self.average is None:
            return stated
        if self.low[resource] == _NO_DISTANCE:
            return _FULL
        return min(100.0, max(0.0, self.average.get(resource, 0.0) + sign * stated))

    def _amounts(self, capacity: ResourceList, percent: Mapping[str, float], *, sign: int) -> ResourceList:
        amounts = {}
        for resource in self.low:
            whole = capacity.get(resource, 0)
            if self.average is not None and self.low[resource] == _NO_DISTANCE:
                amounts[resource] = whole
            else:
                amounts[resource] = part_of(whole, self.effective(percent, resource, sign=sign), resource)
        return amounts


def usage_percent(usage: ResourceList, capacity: ResourceList) -> Mapping[str, float]:
    """Percent of the capacity by resource; those that a node does not have are left out."""
    return {
        resource: 100 * float(ceil_milli(nano)) / float(ceil_milli(capacity[resource]))
        for resource, nano in usage.items()
        if capacity.get(resource, 0)
    }


def average_percent(loads: Sequence[tuple[ResourceList, ResourceList]]) -> Mapping[str, float]:
    """The average over nodes of the usage in percent of the capacity, given in pairs, by resource."""
    total: dict[str, float] = {}
    for usage, capacity in loads:
        for resource, nano in usage.items():
            if whole := capacity.get(resource, 0):
                percent = float(ceil_amount(resource, nano)) / float(ceil_amount(resource, whole)) * 100.0
                total[resource] = total.get(resource, 0.0) + percent
    return {resource: percent / len(loads) for resource, percent in total.items()}

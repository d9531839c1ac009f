"""Which GPUs a pod gets together: by the partition table of the node, or by how they are plugged in.

With a table it is a free partition; else the deepest scope that has enough of them, fullest first. Source:
`allocateByPartition` and `allocateByDeviceTopology` of `pkg/scheduler/plugins/deviceshare/allocator_gpu.go`
(koordinator 1.8).
"""

from __future__ import annotations

from typing import NamedTuple

from descheduler.model.koordinator.devices import GPU, GpuPartition, PartitionSpec
from descheduler.placement.plugins.device_share.args import DeviceScorer
from descheduler.placement.plugins.device_share.device_state import DeviceState, TypeView, fits, is_zero
from descheduler.placement.plugins.device_share.hardware import (
    SCOPE_LEVELS,
    Hardware,
    PartitionGroups,
    TopologyScope,
    mask_of,
)
from descheduler.placement.plugins.device_share.reasons import DeviceReason
from descheduler.placement.plugins.device_share.requests import GpuRequest

_WEIGHTS = {8: 10_000, 4: 100, 2: 1}
"""What a partition of so many GPUs is worth that stays free."""


class _Found(NamedTuple):
    """Minors in a scope at a `depth`, of whose ancestors and itself `num_used` scopes hold GPUs in use."""

    minors: tuple[int, ...]
    depth: int
    num_used: int
    score: int

    def is_worse_than(self, other: _Found) -> bool:
        """Ties go to the one that was found first."""
        return (self.depth, self.num_used, self.score) < (other.depth, other.num_used, other.score)


def gpus_by_topology(
    request: GpuRequest, required_scope: str, state: DeviceState, view: TypeView, scorer: DeviceScorer | None
) -> tuple[int, ...] | DeviceReason | None:
    """Minors near to each other, or why there are none; None where that is not asked for and cannot be done.

    Without a scorer, as in Filter, the lowest minors of the best scope are taken.
    """
    scope = state.hardware.scope
    if scope is None:
        return DeviceReason.NO_TOPOLOGY if required_scope else None
    if request.is_shared and request.number > 1:
        return DeviceReason.SHARED_BY_SEVERAL if required_scope else None
    found = _Search(request, SCOPE_LEVELS.get(required_scope, 0), state, view, scorer).within(scope, 0, 0)
    if found is None:
        return DeviceReason.INSUFFICIENT_IN_SCOPE if required_scope else DeviceReason.INSUFFICIENT_GPUS
    return found.minors


class _Search:
    """One search, down the tree."""

    def __init__(
        self, request: GpuRequest, level: int, state: DeviceState, view: TypeView, scorer: DeviceScorer | None
    ) -> None:
        self._request = request
        self._level = level
        self._used = mask_of(view.occupied)
        self._view = view
        self._whole = state.hardware.total.get(GPU, {})
        self._scorer = scorer
        self._open = frozenset(
            minor
            for minor, total in view.total.items()
            if not is_zero(total) and fits(request.each, view.free.get(minor, {}))
        )

    def within(self, scope: TopologyScope, depth: int, num_used: int) -> _Found | None:
        """The best in `scope`, which is at `depth` below `num_used` scopes in use."""
        depth, num_used = depth + 1, num_used + bool(scope.mask & self._used)
        best: _Found | None = None
        for child in scope.children:
            if len(child.minors) >= self._request.number:
                found = self.within(child, depth, num_used)
                if found is not None and (best is None or best.is_worse_than(found)):
                    best = found
        if best is not None:
            return best
        if self._level > scope.level or len(scope.minors) < self._request.number:
            return None
        return self._here(scope, depth, num_used)

    def _here(self, scope: TopologyScope, depth: int, num_used: int) -> _Found | None:
        minors = [minor for minor in scope.minors if minor in self._open]
        if len(minors) < self._request.number:
            return None
        if not self._request.is_shared:
            return _Found(tuple(minors[: self._request.number]), depth, num_used, -1)
        scores = {minor: self._score(minor) for minor in minors}
        best = max(minors, key=scores.__getitem__)
        return _Found((best,), depth, num_used, scores[best])

    def _score(self, minor: int) -> int:
        """As the scheduler has it: what is free stands for what there is, and the other way round."""
        if self._scorer is None:
            return 0
        return self._scorer.device(self._request.each, self._view.free[minor], self._whole.get(minor, {}))


def gpus_by_partition(
    request: GpuRequest, spec: PartitionSpec | None, hardware: Hardware, view: TypeView
) -> tuple[int, ...] | DeviceReason | None:
    """The minors of a free partition, or why there is none; None where the table need not be honoured."""
    if request.is_shared:
        return None
    found = _partition(request.number, spec or PartitionSpec(), hardware, view)
    if isinstance(found, GpuPartition):
        return found.minors
    return found if spec is not None or hardware.honors_partitions else None


def _partition(number: int, spec: PartitionSpec, hardware: Hardware, view: TypeView) -> GpuPartition | DeviceReason:
    table = hardware.partitions
    if table is None:
        return DeviceReason.NO_PARTITION_TABLE
    groups = table.get(number)
    if groups is None:
        return DeviceReason.UNSUPPORTED_NUMBER
    used = mask_of(view.occupied)
    healthy = mask_of(minor for minor, total in view.total.items() if not is_zero(total))
    # Of the groups by score the lowest comes first, although the API promises the highest.
    for group in groups[:1] if spec.is_restricted else groups:
        feasible = [each for each in group if _is_free(each, used, healthy) and _is_fast(each, spec)]
        if feasible:
            return max(feasible, key=lambda each: _left_free(each, used, table, number))
    return DeviceReason.INSUFFICIENT_PARTITIONS


def _is_free(partition: GpuPartition, used: int, healthy: int) -> bool:
    mask = mask_of(partition.minors)
    return not mask & used and mask & healthy == mask


def _is_fast(partition: GpuPartition, spec: PartitionSpec) -> bool:
    if spec.ring_bus_bandwidth is None:
        return True
    return partition.ring_bus_bandwidth is not None and partition.ring_bus_bandwidth >= spec.ring_bus_bandwidth


def _left_free(partition: GpuPartition, used: int, table: PartitionGroups, number: int) -> int:
    """What the partitions are worth that stay free beside `partition`."""
    taken = used | mask_of(partition.minors)
    return sum(
        weight * other.allocation_score
        for size, weight in _WEIGHTS.items()
        if size >= number and table.get(size)
        for other in table[size][0]
        if not mask_of(other.minors) & taken
    )

"""GPUs by the partition table of their node.

Source: `allocateByPartition` of `pkg/scheduler/plugins/deviceshare/allocator_gpu.go` (koordinator 1.8).
"""

from __future__ import annotations

from descheduler.model.koordinator.devices import GpuPartition, PartitionSpec
from descheduler.placement.plugins.device_share.devices.device_state import TypeView, is_zero
from descheduler.placement.plugins.device_share.devices.hardware import Hardware, PartitionGroups, mask_of
from descheduler.placement.plugins.device_share.reasons import DeviceReason
from descheduler.placement.plugins.device_share.requests import GpuRequest

__all__ = ["gpus_by_partition"]

_WEIGHTS = {8: 10_000, 4: 100, 2: 1}
"""What a partition of so many GPUs is worth that stays free."""


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

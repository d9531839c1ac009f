"""The GPUs of nodes: what is free of each, and which of them pods have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from descheduler.model.koordinator.devices import GPU
from descheduler.model.pod import Pod
from descheduler.placement.landings.openings import Openings
from descheduler.placement.plugins.device_share.devices.device_state import DeviceState
from descheduler.placement.plugins.device_share.requests import GPU_CORE, GPU_MEMORY, GPU_MEMORY_RATIO
from descheduler.planner.gpus.gpu_need import memory_ratio

__all__ = ["FreeGpu", "free_gpus", "gpus_of_pod", "largest_memory"]


class FreeGpu(NamedTuple):
    """Percent of one GPU that are free."""

    core: int
    memory_ratio: int


def free_gpus(state: DeviceState) -> Mapping[int, FreeGpu]:
    """What is free of each healthy GPU of a node, by ascending minor."""
    total, free = state.total.get(GPU, {}), state.free.get(GPU, {})
    return {
        minor: FreeGpu(free[minor].get(GPU_CORE, 0), memory_ratio(free[minor], total[minor].get(GPU_MEMORY, 0)))
        for minor in sorted(total)
        if total[minor].get(GPU_MEMORY_RATIO)
    }


def gpus_of_pod(openings: Openings, pod: Pod) -> tuple[int, ...]:
    """The minors of the GPUs that a pod has, ascending; none for one that has none, or of which nobody knows."""
    return tuple(sorted(each.minor for each in openings.devices_of(pod).get(GPU, ())))


def largest_memory(openings: Openings, nodes: Iterable[str]) -> int:
    """The most bytes that a GPU of the nodes has; 0 where that is not told."""
    totals = (openings.device_state(node).total.get(GPU, {}) for node in nodes)
    return max((amounts.get(GPU_MEMORY, 0) for total in totals for amounts in total.values()), default=0)

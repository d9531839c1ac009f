"""The GPUs of nodes one by one, as planners count them: what is free of each, and what pods ask of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from descheduler.model.koordinator.devices import GPU, Amounts
from descheduler.model.pod import Pod
from descheduler.model.requests import ResourceList
from descheduler.placement.framework.node_parts import WHOLE_PART, FreePart, PartNeed
from descheduler.placement.plugins.device_share.devices.device_cache import DeviceCache
from descheduler.placement.plugins.device_share.requests import (
    GPU_CORE,
    GPU_MEMORY,
    GPU_MEMORY_RATIO,
    RequestError,
    device_requests,
    gpu_request,
)
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["GpuParts"]


class GpuParts:
    """The healthy GPUs of Device objects, by their minors."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._devices = cluster.follow(DeviceCache)

    def state(self, node: int) -> object:
        """The devices of the node; those of nodes that are alike and in the same state are one object."""
        return self._devices.state(node)

    def free(self, node: int) -> Mapping[int, FreePart]:
        """Of each healthy GPU."""
        state = self._devices.state(node)
        total, free = state.total.get(GPU, {}), state.free.get(GPU, {})
        return {
            minor: FreePart(free[minor].get(GPU_CORE, 0), _memory_ratio(free[minor], total[minor].get(GPU_MEMORY, 0)))
            for minor in sorted(total)
            if total[minor].get(GPU_MEMORY_RATIO)
        }

    def held_by(self, pod: Pod) -> tuple[int, ...]:
        """As the annotation of a bound pod says."""
        return tuple(sorted(each.minor for each in self._devices.held_by(pod).get(GPU, ())))

    def most_memory(self, nodes: Iterable[int]) -> int:
        """That of the largest GPU."""
        totals = (self._devices.state(node).total.get(GPU, {}) for node in nodes)
        return max((amounts.get(GPU_MEMORY, 0) for total in totals for amounts in total.values()), default=0)

    def need(self, requests: ResourceList, most_memory: int) -> PartNeed | None:
        """As DeviceShare reads the requests."""
        try:
            asked = device_requests(requests).get(GPU)
        except RequestError:
            return None
        if asked is None:
            return None
        request = gpu_request(asked)
        return PartNeed(request.number, request.each.get(GPU_CORE, 0), _memory_ratio(request.each, most_memory))


def _memory_ratio(amounts: Amounts, memory: int) -> int:
    """The percent of GPU memory that `amounts` are, on a GPU that has `memory` bytes."""
    if GPU_MEMORY_RATIO in amounts or not memory:
        return amounts.get(GPU_MEMORY_RATIO, 0)
    return -(-WHOLE_PART * amounts.get(GPU_MEMORY, 0) // memory)

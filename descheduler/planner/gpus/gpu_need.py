"""What a pod asks of each GPU, as Koordinator's DeviceShare reads its requests."""

from __future__ import annotations

from typing import NamedTuple

from descheduler.model.koordinator.devices import GPU, Amounts
from descheduler.model.requests import ResourceList
from descheduler.placement.plugins.device_share.requests import (
    GPU_CORE,
    GPU_MEMORY,
    GPU_MEMORY_RATIO,
    RequestError,
    device_requests,
    gpu_request,
)

__all__ = ["WHOLE_GPU", "GpuNeed", "gpu_need", "memory_ratio"]

WHOLE_GPU = 100
"""Percent."""


class GpuNeed(NamedTuple):
    """`number` GPUs, and percent of each."""

    number: int
    core: int
    memory_ratio: int


def gpu_need(requests: ResourceList, most_memory: int) -> GpuNeed | None:
    """What a pod with these effective requests asks for; None where it asks for no GPU, or for what nobody gives.

    Memory in bytes counts as its part of `most_memory`, that of the largest GPU: which GPU it gets is not known before.
    """
    try:
        asked = device_requests(requests).get(GPU)
    except RequestError:
        return None
    if asked is None:
        return None
    request = gpu_request(asked)
    return GpuNeed(request.number, request.each.get(GPU_CORE, 0), memory_ratio(request.each, most_memory))


def memory_ratio(amounts: Amounts, memory: int) -> int:
    """The percent of GPU memory that `amounts` are, on a GPU that has `memory` bytes."""
    if GPU_MEMORY_RATIO in amounts or not memory:
        return amounts.get(GPU_MEMORY_RATIO, 0)
    return -(-WHOLE_GPU * amounts.get(GPU_MEMORY, 0) // memory)

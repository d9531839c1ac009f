"""What a pod asks of devices: which combinations of resources there are, and what they come to a device.

Source: `pkg/scheduler/plugins/deviceshare/utils.go` and `devicehandler_gpu.go` (koordinator 1.8).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from descheduler.model.koordinator.devices import FPGA, GPU, RDMA, Amounts, current_name
from descheduler.model.quantity import ceil_value
from descheduler.model.requests import ResourceList

_DOMAIN = "koordinator.sh"
GPU_CORE, GPU_MEMORY, GPU_MEMORY_RATIO = (f"{_DOMAIN}/gpu-{part}" for part in ("core", "memory", "memory-ratio"))
_KOORDINATOR_GPU = f"{_DOMAIN}/gpu"
_SHARED = f"{_DOMAIN}/gpu.shared"
_RDMA, _FPGA = f"{_DOMAIN}/rdma", f"{_DOMAIN}/fpga"
_NPU_CORE, _NPU_CPU, _NPU_DVPP = (f"huawei.com/npu-{part}" for part in ("core", "cpu", "dvpp"))
_VENDORS = ("nvidia.com/gpu", "amd.com/gpu", "dcu.com/gpu")
WHOLE = 100
"""A whole device, in percent."""

DEVICE_RESOURCES: Mapping[str, tuple[str, ...]] = {
    GPU: (
        *_VENDORS,
        _KOORDINATOR_GPU,
        _SHARED,
        GPU_CORE,
        GPU_MEMORY,
        GPU_MEMORY_RATIO,
        _NPU_CORE,
        _NPU_CPU,
        _NPU_DVPP,
    ),
    RDMA: (_RDMA,),
    FPGA: (_FPGA,),
}
"""Names of resources in requests, by device type."""

_PERCENTAGES = (_KOORDINATOR_GPU, _FPGA, _RDMA)


class RequestError(ValueError):
    """A request that the scheduler takes nowhere, in its words."""


class GpuRequest(NamedTuple):
    """`number` GPUs with `each` on every one. `is_shared` says that others may use the rest of a GPU."""

    each: Amounts
    number: int
    is_shared: bool


def _is_percentage(amount: int) -> bool:
    return max(amount, WHOLE) % WHOLE == 0


def _are_percentages(asked: Amounts) -> bool:
    return all(_is_percentage(asked.get(name, 0)) for name in (GPU_CORE, GPU_MEMORY_RATIO))


def _is_shareable(asked: Amounts) -> bool:
    number = asked[_SHARED]
    parts = [asked[name] for name in (GPU_CORE, GPU_MEMORY_RATIO) if name in asked]
    return all(part % number == 0 and part // number <= WHOLE for part in parts)


def _is_shareable_npu(asked: Amounts) -> bool:
    return asked[_SHARED] <= 1 and asked.get(_NPU_DVPP, 0) <= WHOLE


_COMBINATIONS: Mapping[frozenset[str], Callable[[Amounts], bool]] = {
    **{frozenset({name}): lambda asked: True for name in (*_VENDORS, _KOORDINATOR_GPU, _FPGA, _RDMA)},
    **{
        frozenset(names): _are_percentages
        for names in (
            {GPU_MEMORY},
            {GPU_MEMORY_RATIO},
            {GPU_CORE, GPU_MEMORY},
            {GPU_CORE, GPU_MEMORY_RATIO},
            {_NPU_CORE, GPU_MEMORY_RATIO},
        )
    },
    **{
        frozenset({_SHARED, *names}): _is_shareable
        for names in ({GPU_MEMORY}, {GPU_MEMORY_RATIO}, {GPU_CORE, GPU_MEMORY}, {GPU_CORE, GPU_MEMORY_RATIO})
    },
    frozenset({_SHARED, _NPU_CORE, _NPU_CPU, GPU_MEMORY}): _is_shareable_npu,
    frozenset({_SHARED, _NPU_CORE, _NPU_CPU, _NPU_DVPP, GPU_MEMORY}): _is_shareable_npu,
}
"""Resources that may be requested together for devices of one type, and whether their amounts go together."""


def device_requests(requests: ResourceList) -> dict[str, Amounts]:
    """Device type → what a pod with these effective `requests` asks for, in the resources of devices.

    A number of a vendor's GPUs, and koordinator.sh/gpu, stand for gpu-core and gpu-memory-ratio. Raises RequestError.
    """
    asked: dict[str, int] = {}
    for name, nano in requests.items():
        if nano > 0:
            name = current_name(name)
            asked[name] = asked.get(name, 0) + ceil_value(nano)
    found = {}
    for device_type, names in DEVICE_RESOURCES.items():
        own = {name: asked[name] for name in names if name in asked}
        if own:
            _check(own)
            found[device_type] = _converted(own)
    return found


def _check(asked: Amounts) -> None:
    for name in _PERCENTAGES:
        if not _is_percentage(asked.get(name, 0)):
            raise RequestError(f"invalid resource unit {name}: {asked[name]}")
    is_sound = _COMBINATIONS.get(frozenset(asked))
    if is_sound is None or not is_sound(asked):
        raise RequestError(f"invalid resource device requests: [{' '.join(sorted(asked))}]")


def _converted(asked: Amounts) -> Amounts:
    for name in _VENDORS:
        if name in asked:
            return dict.fromkeys((GPU_CORE, GPU_MEMORY_RATIO), WHOLE * asked[name])
    if _KOORDINATOR_GPU in asked:
        return dict.fromkeys((GPU_CORE, GPU_MEMORY_RATIO), asked[_KOORDINATOR_GPU])
    return asked


def gpu_request(asked: Amounts) -> GpuRequest:
    """A request for GPUs, out of `device_requests`, as so many cards with so much each.

    gpu-memory in bytes is always of one card unless gpu.shared says of how many, whatever the amount of gpu-core.
    """
    ratio = asked.get(GPU_MEMORY_RATIO)
    number = asked.get(_SHARED, 0)
    if not number:
        number = ratio // WHOLE if ratio is not None and ratio % WHOLE == 0 else 1
    names = (GPU_CORE, _NPU_CORE, _NPU_CPU, _NPU_DVPP, GPU_MEMORY if ratio is None else GPU_MEMORY_RATIO)
    each = {name: asked[name] // number for name in names if name in asked}
    is_shared = ratio // number < WHOLE if ratio is not None else GPU_MEMORY in asked
    return GpuRequest(each, number, is_shared)

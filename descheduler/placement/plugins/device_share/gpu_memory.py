"""What a pod has of a GPU that it got: memory in bytes and in percent, of which it asked for one.

Source: `fillGPUTotalMem` of `pkg/scheduler/plugins/deviceshare/devicehandler_gpu.go` (koordinator 1.8).
"""

from __future__ import annotations

from descheduler.model.koordinator.devices import GPU, AllocatedDevice, Amounts
from descheduler.placement.plugins.device_share.allocation import Allocated
from descheduler.placement.plugins.device_share.devices.device_state import DeviceAmounts
from descheduler.placement.plugins.device_share.requests import GPU_MEMORY, GPU_MEMORY_RATIO, WHOLE

__all__ = ["with_gpu_memory"]


def with_gpu_memory(allocated: Allocated, total: DeviceAmounts) -> Allocated:
    """`allocated` with both on each GPU, of which `total` says what each has."""
    if GPU not in allocated:
        return allocated
    return {**allocated, GPU: tuple(_filled(each, total.get(each.minor, {})) for each in allocated[GPU])}


def _filled(device: AllocatedDevice, total: Amounts) -> AllocatedDevice:
    amounts, memory = device.resources, total.get(GPU_MEMORY, 0)
    if GPU_MEMORY in amounts and GPU_MEMORY_RATIO in amounts:
        return device
    if GPU_MEMORY in amounts:
        # In floating point, as there; a card without memory has nothing to share.
        ratio = int(amounts[GPU_MEMORY] / memory * WHOLE) if memory else 0
        amounts = {**amounts, GPU_MEMORY_RATIO: ratio}
    else:
        amounts = {**amounts, GPU_MEMORY: amounts.get(GPU_MEMORY_RATIO, 0) * memory // WHOLE}
    return AllocatedDevice(device.minor, amounts, functions=device.functions, template=device.template)

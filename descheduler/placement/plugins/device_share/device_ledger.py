"""The devices of pods that were placed since the snapshot was taken, shared by the profiles of all schedulers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol, runtime_checkable

import msgspec

from descheduler.model.koordinator.devices import GPU, AllocatedDevice, AllocatedDevices, Amounts
from descheduler.placement.framework.koordinator.allocation import Allocation
from descheduler.placement.framework.koordinator.matched_reservations import taken_devices
from descheduler.placement.plugins.device_share.allocation import Allocated
from descheduler.placement.plugins.device_share.devices.device_cache import DeviceCache
from descheduler.placement.plugins.device_share.devices.device_state import DeviceAmounts
from descheduler.placement.plugins.device_share.reasons import DeviceReason
from descheduler.placement.plugins.device_share.requests import GPU_MEMORY, GPU_MEMORY_RATIO, WHOLE
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

__all__ = ["NAME", "DeviceLedger", "Reserving", "TakenDevices"]

NAME = "DeviceShare"


@runtime_checkable
class Reserving(Protocol):
    """What the plugin finds out about a pod before Reserve, and leaves in the scratch of the cycle under its name."""

    def reserve(self, node: int) -> Allocated | DeviceReason | None:
        """The devices that the pod gets on a node; None where the scheduler leaves that to the kubelet."""


class TakenDevices(NamedTuple):
    """What a pod got of the devices of a node."""

    node: int
    devices: AllocatedDevices


class DeviceLedger:
    """Takes devices out of the cache, and gives them back."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self.cache = cluster.follow(DeviceCache)

    def reserve(self, cycle: Cycle, node: int) -> TakenDevices | None:
        """Takes the devices that the scheduler would choose on `node`.

        Nothing is taken for a pod that DeviceShare did not look at in the same cycle, nor for a Reservation, which is
        to hold its devices itself. Where Reserve fails after Filter has passed the node, as with joint allocation,
        `cycle.notes` says so.
        """
        reserving = cycle.scratch.get(NAME)
        found = reserving.reserve(node) if isinstance(reserving, Reserving) else None
        if isinstance(found, DeviceReason):
            cycle.notes.append(f"{NAME} must find devices on node {cycle.cluster.table.names[node]} ({found.short})")
        if found is None or isinstance(found, DeviceReason):
            return None
        filled = _with_gpu_memory(found, self.cache.state(node).total.get(GPU, {}))
        taken = TakenDevices(node, {name: tuple(self._with_ids(node, name, each)) for name, each in filled.items()})
        taken_devices(cycle).update(taken.devices)
        if cycle.keeper is not None:
            return None
        self.restore(taken)
        return taken

    def restore(self, taken: TakenDevices) -> None:
        """Takes exactly these devices again."""
        self.cache.change(taken.node, taken.devices, 1)

    def release(self, taken: TakenDevices) -> None:
        """Gives these devices back."""
        self.cache.change(taken.node, taken.devices, -1)

    def allocations(self, taken: TakenDevices) -> tuple[Allocation, ...]:
        """Each device by its minor."""
        return tuple(
            Allocation(
                NAME, device_type, str(entry.minor), {n: amount for n, amount in entry.resources.items() if amount}
            )
            for device_type, entries in taken.devices.items()
            for entry in entries
        )

    def fingerprint(self) -> object:
        """The same as that of the cache."""
        return self.cache.fingerprint()

    def _with_ids(self, node: int, device_type: str, devices: Iterable[AllocatedDevice]) -> Iterator[AllocatedDevice]:
        for each in devices:
            yield msgspec.structs.replace(each, id=self.cache.id_of(node, device_type, each.minor))


def _with_gpu_memory(allocated: Allocated, total: DeviceAmounts) -> Allocated:
    """`allocated` with memory in bytes and in percent on each GPU; `total` is what each GPU has.

    A pod requests one of the two. Source: `fillGPUTotalMem` of `pkg/scheduler/plugins/deviceshare/devicehandler_gpu.go`
    (koordinator 1.8).
    """
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

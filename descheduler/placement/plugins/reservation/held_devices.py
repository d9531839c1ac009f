"""Devices that a Reservation holds, and what its owners have of them (koordinator's reference, §6.9)."""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.cluster.decoding.koordinator.devices import decode_allocated
from descheduler.model.annotations import DEVICES_ALLOCATED_ANNOTATION
from descheduler.model.koordinator.devices import AllocatedDevice, AllocatedDevices, VirtualFunction, allocation_text
from descheduler.placement.framework.matched_reservations import DevicesByMinor


class HeldDevices:
    """What a Reservation on a node has by its annotation, less what owners have on the same minors."""

    __slots__ = ("_all", "_owned")

    def __init__(self, devices: AllocatedDevices) -> None:
        self._all = devices
        self._owned: list[AllocatedDevices] = []

    def __bool__(self) -> bool:
        return bool(self._all)

    def hold(self, devices: AllocatedDevices) -> None:
        """Has these devices from now on."""
        self._all = devices

    def change(self, owned: AllocatedDevices, by: int) -> None:
        """Counts what one owner has (`by` 1), or gives that very value back (-1)."""
        if by == 1:
            self._owned.append(owned)
        else:
            self._owned = [each for each in self._owned if each is not owned]

    def remaining(self) -> DevicesByMinor:
        """What is left, at least 0 each."""
        return {
            name: {
                entry.minor: {
                    resource: max(0, amount - sum(_amount(each, name, entry.minor, resource) for each in self._owned))
                    for resource, amount in entry.resources.items()
                }
                for entry in entries
            }
            for name, entries in self._all.items()
        }

    def annotation(self) -> str:
        """The same, as the annotation of a pod says it; virtual functions go with a device that no owner has."""
        left = self.remaining()
        return allocation_text(
            {
                name: tuple(
                    [
                        AllocatedDevice(each.minor, left[name][each.minor], functions=self._functions(name, each))
                        for each in entries
                    ]
                )
                for name, entries in self._all.items()
            }
        )

    def _functions(self, name: str, device: AllocatedDevice) -> tuple[VirtualFunction, ...]:
        is_owned = any(other.minor == device.minor for each in self._owned for other in each.get(name, ()))
        return () if is_owned else device.functions


def devices_of(annotations: Mapping[str, str]) -> AllocatedDevices:
    """What the annotation says; nothing for one that cannot be read, which the scheduler passes over."""
    text = annotations.get(DEVICES_ALLOCATED_ANNOTATION, "")
    try:
        return decode_allocated(text) if text else {}
    except (ValueError, RecursionError):
        return {}


def _amount(devices: AllocatedDevices, name: str, minor: int, resource: str) -> int:
    return sum(each.resources.get(resource, 0) for each in devices.get(name, ()) if each.minor == minor)

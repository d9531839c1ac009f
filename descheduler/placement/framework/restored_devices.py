"""Devices of reservations that the pod of a cycle may use: told by the plugin that knows reservations, to the one that
allocates devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from descheduler.placement.shadow.shadow_cluster import Cycle

__all__ = [
    "DevicesByMinor",
    "GetsDevices",
    "ReservedDevices",
    "RestoredDevices",
    "gets_devices",
    "offer_devices",
    "reserved_devices",
    "restore_devices",
    "taken_devices",
]

_KEY = "restored devices"
_OFFER = "offered devices"
_TAKEN = "taken devices"

DevicesByMinor = Mapping[str, Mapping[int, Mapping[str, int]]]
"""Amounts by device type, minor and resource."""
GetsDevices = Callable[[int, "RestoredDevices"], bool]
"""Whether the pod of a cycle gets its devices on a node, out of what one reservation gives back and what is free."""


class RestoredDevices(NamedTuple):
    """What is left of the devices of one reservation: amounts by device type, minor and resource.

    On the node they count as free, as the reservation is no pod there to those who may use it. They are preferred to
    other devices; where the reservation `restricts`, the pod gets nothing but these, of the types that it holds.
    """

    devices: DevicesByMinor
    restricts: bool = False


class ReservedDevices(NamedTuple):
    """The reservations of one node that match the pod, in the order in which they are tried.

    Unless that `is_required`, the whole node is tried after them.
    """

    reservations: tuple[RestoredDevices, ...]
    is_required: bool = False


def restore_devices(cycle: Cycle, by_node: Mapping[int, ReservedDevices]) -> None:
    """Tells what matching reservations hold, by node, before devices are looked at."""
    cycle.scratch[_KEY] = by_node


def reserved_devices(cycle: Cycle) -> Mapping[int, ReservedDevices]:
    """What was told of the pod of `cycle`, by node."""
    found = cycle.scratch.get(_KEY)
    return found if isinstance(found, Mapping) else {}


def offer_devices(cycle: Cycle, gets: GetsDevices) -> None:
    """Tells how the pod of `cycle` gets devices; the plugin that allocates them does so before nodes are looked at."""
    cycle.scratch[_OFFER] = gets


def gets_devices(cycle: Cycle) -> GetsDevices | None:
    """How the pod of `cycle` gets devices; None for one that asks for none."""
    found = cycle.scratch.get(_OFFER)
    return found if callable(found) else None


def taken_devices(cycle: Cycle) -> dict[str, dict[int, Mapping[str, int]]]:
    """The devices that were taken for the pod of `cycle`: filled in at Reserve, for whoever has asked before."""
    found = cycle.scratch.setdefault(_TAKEN, {})
    assert isinstance(found, dict)  # noqa: S101 - nobody else has the key
    return found

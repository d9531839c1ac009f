"""Devices of reservations that the pod of a cycle may use: told by the plugin that knows reservations, to the one that
allocates devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from descheduler.placement.shadow.shadow_cluster import Cycle

__all__ = ["ReservedDevices", "RestoredDevices", "reserved_devices", "restore_devices"]

_KEY = "restored devices"


class RestoredDevices(NamedTuple):
    """What is left of the devices of one reservation: amounts by device type, minor and resource.

    On the node they count as free, as the reservation is no pod there to those who may use it. They are preferred to
    other devices; where the reservation `restricts`, the pod gets nothing but these, of the types that it holds.
    """

    devices: Mapping[str, Mapping[int, Mapping[str, int]]]
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

"""Devices that reservations hold and that the pod of a cycle may use: told by the plugin that knows reservations, to
the one that allocates devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from descheduler.placement.shadow.shadow_cluster import Cycle

__all__ = ["ReservedDevices", "RestoredDevices", "reserved_devices", "restore_devices"]

_KEY = "restored devices"


class RestoredDevices(NamedTuple):
    """What one reservation gives back to the pod: amounts by device type, minor and resource.

    They count as used on the node. Where the reservation `restricts`, the pod gets nothing but these, of the types that
    it holds; else they are preferred to what is free, unless `is_preferred` is unset.
    """

    devices: Mapping[str, Mapping[int, Mapping[str, int]]]
    restricts: bool = False
    is_preferred: bool = True


class ReservedDevices(NamedTuple):
    """The reservations of one node that match the pod, in the order in which they are tried.

    Unless they are `required`, the whole node is tried after them, with what all of them give back.
    """

    reservations: tuple[RestoredDevices, ...]
    is_required: bool = False


def restore_devices(cycle: Cycle, by_node: Mapping[int, ReservedDevices]) -> None:
    """Grants what matching reservations hold, by node, before devices are looked at."""
    cycle.scratch[_KEY] = by_node


def reserved_devices(cycle: Cycle) -> Mapping[int, ReservedDevices]:
    """What was granted to the pod of `cycle`, by node."""
    found = cycle.scratch.get(_KEY)
    return found if isinstance(found, Mapping) else {}

"""The part of an `Explanation` about the devices of a node, of which Koordinator's Device tells."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.documents.fields import Fields
from descheduler.report.document import PodReference
from descheduler.report.explanation.waiting import WaitingPod

__all__ = ["DeviceExplanation", "DeviceFacts", "DeviceUser"]


class DeviceUser(Fields, frozen=True):
    """Who has a part of a device, by annotation: a pod, or the Reservation of this name; the other one is null."""

    pod: PodReference | None
    reservation: str | None
    resources: Mapping[str, int]


class DeviceFacts(Fields, frozen=True):
    """One device: percent of a device, bytes of `koordinator.sh/gpu-memory`, else pieces.

    `total` is empty for an unhealthy device, and for one that only pods name, which is not `is_listed`. `numa_node`
    and `pcie` are null where they are not stated.
    """

    type: str
    minor: int
    id: str
    is_listed: bool = msgspec.field(name="listed")
    is_healthy: bool = msgspec.field(name="healthy")
    numa_node: int | None
    pcie: str | None
    total: Mapping[str, int]
    free: Mapping[str, int]
    users: tuple[DeviceUser, ...]


class DeviceExplanation(Fields, frozen=True):
    """The devices of the node `node`, by type and minor.

    `waiting` are pending pods that request devices of such a type; their `message` says why they do not fit on this
    node, or that they do. `notes` say what is unusual about the devices.
    """

    node: str
    devices: tuple[DeviceFacts, ...]
    waiting: tuple[WaitingPod, ...]
    notes: tuple[str, ...]

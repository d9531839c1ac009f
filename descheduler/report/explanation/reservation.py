"""The part of an `Explanation` about a Reservation of Koordinator."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from descheduler.documents.fields import Fields
from descheduler.report.document import PodReference
from descheduler.report.explanation.placement import PlacementAnalysis
from descheduler.report.explanation.waiting import WaitingPod

__all__ = ["ReservationExplanation", "ReservationFacts", "ReservationUser", "ReservedDevice", "ReservedResource"]


class ReservedResource(Fields, frozen=True):
    """One resource that is reserved: cpu in milli cores, all else in whole units.

    `used` is what the pods that use the Reservation request of it, 0 for a resource that it does not count; `free` is
    the rest that it holds on its node, below zero where its pods request more, and null where it holds nothing.
    """

    resource: str
    reserved: int
    used: int
    free: int | None


class ReservedDevice(Fields, frozen=True):
    """A device of the node that the Reservation holds, and what its pods leave of it. `type` is such as `gpu`."""

    type: str
    minor: int
    reserved: Mapping[str, int]
    free: Mapping[str, int]


class ReservationUser(Fields, frozen=True):
    """A pod that uses the Reservation: by its annotation, or `is_listed` in `status.currentOwners` alone.

    `node` is null for a pod that does not exist any more.
    """

    pod: PodReference
    node: str | None
    requests: Mapping[str, int]
    is_listed: bool = msgspec.field(name="listed")


class ReservationFacts(Fields, frozen=True):
    """The Reservation as the snapshot has it. `node` is null while it has none, `ends_at` where it never expires.

    `owners` say in words who may use it, one entry each, none where no pod may. `num_owned_pods` counts the running and
    pending pods that these match. `allocate_policy` is empty for the default.
    """

    name: str
    phase: str
    node: str | None
    scheduler: str
    allocate_once: bool
    allocate_policy: str
    is_pre_allocating: bool = msgspec.field(name="preAllocation")
    is_unschedulable: bool = msgspec.field(name="unschedulable")
    is_terminating: bool = msgspec.field(name="terminating")
    taints: tuple[str, ...]
    ends_at: datetime | None
    owners: tuple[str, ...]
    num_owned_pods: int = msgspec.field(name="ownedPods")


class ReservationExplanation(Fields, frozen=True):
    """Everything about one Reservation. `devices` are those that it holds.

    `waiting` are pending pods that its owners match or that name it. `placement` says of a pending Reservation why it
    is pending, as of a pod; it is null for others. `notes` say why pods cannot use it.
    """

    facts: ReservationFacts
    resources: tuple[ReservedResource, ...]
    devices: tuple[ReservedDevice, ...]
    users: tuple[ReservationUser, ...]
    waiting: tuple[WaitingPod, ...]
    placement: PlacementAnalysis | None
    notes: tuple[str, ...]

"""Koordinator's Reservation: room on a node that waits for pods of its owners (koordinator 1.8)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

from descheduler.model.pod import Owner, Pod
from descheduler.model.requests import ResourceList
from descheduler.model.selection.labels import LabelSelector
from descheduler.model.selection.taints import Taint
from descheduler.model.text.duration import later

PRIORITY_LABEL = "koordinator.sh/priority"
RESERVE_POD_ANNOTATION = "scheduling.koordinator.sh/reserve-pod"
RESERVATION_NAME_ANNOTATION = "scheduling.koordinator.sh/reservation-name"
RESERVATION_NODE_ANNOTATION = "scheduling.koordinator.sh/reservation-node"

_RESTRICTED = "Restricted"
_encode = msgspec.json.Encoder().encode


def is_reserve_pod(pod: Pod) -> bool:
    """Whether `pod` stands for a Reservation."""
    return pod.annotations.get(RESERVE_POD_ANNOTATION) == "true"


def allocated_text(name: str, uid: str) -> str:
    """Annotation `reservation-allocated` of a pod that uses the Reservation `name`."""
    return _encode({"name": name, "uid": uid}).decode()


class ObjectReference(msgspec.Struct, frozen=True, gc=False):
    """A pod, by whatever of this is stated."""

    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""

    def matches(self, pod: Pod) -> bool:
        """Whether `pod` has all that is stated. Pods that a scheduler reads from its cache have no apiVersion."""
        return (
            not self.api_version
            and self.uid in ("", pod.uid)
            and self.name in ("", pod.name)
            and self.namespace in ("", pod.namespace)
        )


class ReservationOwner(msgspec.Struct, frozen=True):
    """One entry of `spec.owners`: what is stated of it is required together; nothing stated matches every pod.

    `controller` counts any owner reference of a pod; `selector` counts labels alone, whatever the namespace.
    """

    object: ObjectReference | None = None
    controller: Owner | None = None
    controller_namespace: str = ""
    selector: LabelSelector | None = None

    def matches(self, pod: Pod) -> bool:
        """Whether `pod` may use what is reserved for this owner."""
        return (
            (self.object is None or self.object.matches(pod))
            and (self.controller is None or self._controls(self.controller, pod))
            and (self.selector is None or self.selector.matches(pod.labels))
        )

    def _controls(self, wanted: Owner, pod: Pod) -> bool:
        if self.controller_namespace not in ("", pod.namespace):
            return False
        return any(
            wanted.uid in ("", owner.uid)
            and wanted.name in ("", owner.name)
            and wanted.kind in ("", owner.kind)
            and wanted.api_version in ("", owner.api_version)
            and (owner.controller or not wanted.controller)
            for owner in pod.owners
        )


class ReservationCondition(msgspec.Struct, frozen=True, gc=False):
    """One entry of `status.conditions`."""

    type: str
    is_true: bool
    reason: str = ""
    message: str = ""


class Reservation(msgspec.Struct, frozen=True, eq=False):
    """One Reservation. Amounts are in nano units; times are aware UTC, None for the zero time.

    `pod` is the reserve pod, which the scheduler places as it places pods: None without a template. It is named as the
    Reservation, has its uid, no node, and its labels and annotations on top of the template's. `fault` is what keeps
    koord-scheduler from reading owners or options, so that no pod can use the Reservation; it is empty otherwise.
    """

    name: str
    uid: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    pod: Pod | None
    owners: tuple[ReservationOwner, ...] = ()
    allocate_once: bool = True
    allocate_policy: str = ""
    pre_allocation: bool = False
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    ttl: timedelta | None = None
    expires_at: datetime | None = None
    created_at: datetime | None = None
    is_terminating: bool = False
    phase: str = ""
    node_name: str = ""
    allocatable: ResourceList = {}
    allocated: ResourceList = {}
    current_owners: tuple[ObjectReference, ...] = ()
    conditions: tuple[ReservationCondition, ...] = ()
    restricted_to: tuple[str, ...] = ()
    fault: str = ""

    @property
    def is_active(self) -> bool:
        """Whether it holds room on its node."""
        return bool(self.node_name) and self.phase in ("Available", "Waiting")

    @property
    def is_waiting(self) -> bool:
        """Whether it waits on its node for room that pods still have (`preAllocation`)."""
        return bool(self.node_name) and self.phase == "Waiting"

    @property
    def is_available(self) -> bool:
        """Whether pods may use that room."""
        return bool(self.node_name) and self.phase == "Available"

    def condition(self, kind: str) -> ReservationCondition | None:
        """Its condition of this type, if it has one."""
        return next((known for known in self.conditions if known.type == kind), None)

    @property
    def is_for_one_pod(self) -> bool:
        """Whether it is for a certain pod that waits for a node, and not for what an owner will create."""
        return any(
            owner.object is not None and owner.controller is None and owner.selector is None for owner in self.owners
        )

    @property
    def is_pending(self) -> bool:
        """Whether its reserve pod waits for a node."""
        return not self.node_name and self.phase in ("", "Pending")

    @property
    def amounts(self) -> ResourceList:
        """What it reserves, or is to reserve."""
        if self.is_active and self.allocatable:
            return self.allocatable
        return {} if self.pod is None else self.pod.spec.requests

    @property
    def limited_resources(self) -> frozenset[str]:
        """The resources that are counted per owner, and of which policy `Restricted` grants no more than is left."""
        names = frozenset(self.amounts)
        limited = names & frozenset(self.restricted_to) if self.is_restricted else names
        return limited or names

    @property
    def is_restricted(self) -> bool:
        """Whether an owner may not have more of what is reserved than is left of it."""
        return self.allocate_policy == _RESTRICTED

    @property
    def ends_at(self) -> datetime | None:
        """After when its controller ends it; one without a node never expires, and none with a ttl of 0 does."""
        if not self.node_name or self.ttl == timedelta(0):
            return None
        ends = [] if self.expires_at is None else [self.expires_at]
        if self.ttl is not None and self.created_at is not None:
            ends.append(later(self.created_at, self.ttl))
        return min(ends, default=None)

    def has_expired(self, now: datetime) -> bool:
        """Whether its controller ends it at `now`."""
        return self.ends_at is not None and self.ends_at < now

"""Reservations on the nodes of a shadow cluster: what each holds, what its owners took of it, and what is left.

Source: koordinator 1.8 `pkg/scheduler/frameworkext/reservation_info.go`.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from descheduler.cluster.decoding.koordinator.reservations import allocated_reservation
from descheduler.model.annotations import DEVICES_ALLOCATED_ANNOTATION, RESERVATION_ALLOCATED_ANNOTATION
from descheduler.model.koordinator.devices import AllocatedDevices
from descheduler.model.koordinator.reservation import Reservation, is_reserve_pod
from descheduler.model.pod import Pod, PodSpec
from descheduler.model.quantity import NANO, ceil_value
from descheduler.model.requests import PODS, ContainerResources, scoring_requests
from descheduler.model.selection.labels import parse_int64
from descheduler.placement.framework.matched_reservations import MatchedReservation
from descheduler.placement.plugins.reservation.held_devices import HeldDevices, devices_of
from descheduler.placement.plugins.reservation.pod_protocol import ORDER_LABEL
from descheduler.placement.shadow.follower import CountingFollower
from descheduler.placement.shadow.node_table import CPU_ROW, NodeTable
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster

Amounts = tuple[tuple[int, int], ...]
"""(resource row, amount) without zeros, in units of the node table."""

_NANO_BY_MILLI = NANO // 1000


class HeldReservation:
    """One Reservation. `node` is `NO_NODE` while its reserve pod waits.

    `allocatable` is what it reserves, by resource row; `limited` are the rows that are counted per owner. `order` is
    its preference, the lower the sooner, 0 for none. `most_pods` bounds its owners where it reserves places for pods.
    `devices` are those that it holds on its node.
    `is_spent` says that it was used up before the snapshot was taken, which stays so. Each change of what it
    holds is noted in `changes`. `kinds` numbers those that are alike, for all Reservations together.
    """

    __slots__ = (
        "_allocated",
        "_changes",
        "_kind",
        "_kinds",
        "_node",
        "_pods",
        "_table",
        "allocatable",
        "devices",
        "is_spent",
        "limited",
        "most_pods",
        "num_owners",
        "order",
        "pod",
        "reservation",
    )

    def __init__(
        self,
        reservation: Reservation,
        pod: Pod,
        table: NodeTable,
        changes: list[HeldReservation],
        kinds: dict[object, int],
    ) -> None:
        amounts, limited = reservation.amounts, reservation.limited_resources
        self.reservation = reservation
        self.pod = pod
        self._changes = changes
        self._kinds = kinds
        self._kind: int | None = None
        self._node = NO_NODE
        self.num_owners = 0
        self.is_spent = False
        # What the template was copied with is overwritten once the Reservation is bound.
        self.devices = HeldDevices(devices_of(reservation.annotations) if reservation.is_active else {})
        self.allocatable = dict(table.demand(amounts, {}).amounts)
        self.limited = frozenset(row for row, _ in table.demand({name: amounts[name] for name in limited}, {}).amounts)
        self.most_pods = ceil_value(amounts[PODS]) if PODS in amounts else None
        self.order = parse_int64(reservation.labels.get(ORDER_LABEL, "")) or 0
        self._table = table
        self._allocated = dict.fromkeys(self.limited, 0)
        self._pods: dict[tuple[Amounts, str], Pod] = {}

    @property
    def name(self) -> str:
        return self.reservation.name

    @property
    def node(self) -> int:
        """The index of the node that it is on."""
        return self._node

    @node.setter
    def node(self, node: int) -> None:
        self._node = node
        self._changes.append(self)

    @property
    def is_active(self) -> bool:
        """Whether it holds room: it is on a node, and not used up."""
        return self.node != NO_NODE and not self.is_spent and not (self.is_used_once and self.num_owners)

    @property
    def is_waiting(self) -> bool:
        """Whether it is to have room that pods of its node still have, which count as its owners."""
        return self.reservation.is_waiting

    @property
    def is_used_once(self) -> bool:
        """Whether the first owner uses it up."""
        return self.reservation.allocate_once and not self.is_waiting

    @property
    def is_available(self) -> bool:
        """Whether pods may use that room."""
        return self.is_active and not self.is_waiting and not self.reservation.fault

    @property
    def kind(self) -> int:
        """The same for Reservations of which pods have the same amounts left, under the same policy and order."""
        if self._kind is None:
            owners = None if self.most_pods is None else (self.most_pods, self.num_owners)
            amounts = tuple(self.allocatable.items()), tuple(self._allocated.items())
            key = amounts, self.order, self.reservation.is_restricted, owners
            self._kind = self._kinds.setdefault(key, len(self._kinds))
        return self._kind

    def allocated(self, row: int) -> int:
        """What its owners have of a resource."""
        return self._allocated.get(row, 0)

    def gap(self, row: int) -> int:
        """What it reserves of a resource beyond what its owners have; negative where these have more."""
        return self.allocatable.get(row, 0) - self._allocated.get(row, 0)

    def gaps(self) -> Amounts:
        """What it reserves beyond what its owners have, by resource."""
        left = ((row, self.gap(row)) for row in self.allocatable)
        return tuple((row, amount) for row, amount in left if amount)

    def change(self, amounts: Amounts, devices: AllocatedDevices, by: int) -> None:
        """Counts an owner that takes `amounts` and `devices` (`by` 1), or that is gone (-1)."""
        self._changes.append(self)
        self._kind = None
        self.num_owners += by
        self.devices.change(devices, by)
        for row, amount in amounts:
            if row in self.limited:
                self._allocated[row] += by * amount

    def stand_in(self) -> Pod:
        """The pod that koord-scheduler counts on the node: the reserve pod, less what its owners have.

        Where they have more than is reserved that is less than nothing: to pods that may not use the Reservation the
        node seems to have what is not there (measured; ReservationPlugin warns of it before the pod starts).
        """
        gaps, devices = self.gaps(), self.devices.annotation() if self.devices else ""
        known = self._pods.get((gaps, devices))
        if known is None:
            known = self._pods[gaps, devices] = self._on_node(self._with_requests(gaps), devices)
        return known

    def restored(self) -> MatchedReservation:
        """What it gives back to a pod that may use it."""
        devices = self.devices.remaining() if self.devices else {}
        return MatchedReservation(self.name, self.reservation.annotations, devices, self.reservation.is_restricted)

    def state(self) -> object:
        """All that placed pods change of it."""
        allocated = sorted(each for each in self._allocated.items() if each[1])
        return self.name, self.node, self.num_owners, allocated, self.devices.annotation()

    def _on_node(self, pod: Pod, devices: str) -> Pod:
        rest = {key: value for key, value in pod.annotations.items() if key != DEVICES_ALLOCATED_ANNOTATION}
        annotations = {**rest, DEVICES_ALLOCATED_ANNOTATION: devices} if devices else rest
        return msgspec.structs.replace(pod, node_name=self._table.names[self.node], annotations=annotations)

    def _with_requests(self, amounts: Amounts) -> Pod:
        spec = self.pod.spec
        if amounts == self._table.demand(spec.requests, {}).amounts:
            return self.pod
        names = self._table.resources
        requests = {names[row]: amount * (_NANO_BY_MILLI if row == CPU_ROW else NANO) for row, amount in amounts}
        used_up = {names[row]: 0 for row in self.allocatable if row not in dict(amounts)}
        return msgspec.structs.replace(self.pod, spec=_only_asking(spec, requests, used_up))


def _only_asking(spec: PodSpec, requests: dict[str, int], used_up: dict[str, int]) -> PodSpec:
    """`spec` with one container, which asks for `requests` and explicitly for nothing of what is `used_up`.

    Scores charge what is not asked for with a default, but not what is asked for with 0.
    """
    containers = (ContainerResources(requests | used_up, {}),) if requests else ()
    charged = scoring_requests(containers, (), pod_level={}, overhead={}, has_pod_level=False)
    return msgspec.structs.replace(
        spec, containers=containers, init_containers=(), requests=requests, scoring_requests=charged
    )


class Holdings(CountingFollower):
    """The Reservations of a snapshot, in name order, and as a follower the owners that they have there.

    Owners are the pods on the node of a Reservation that name its uid in an annotation.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        self._table = cluster.table
        self._devices_by_owner: dict[str, AllocatedDevices] = {}
        self.changes: list[HeldReservation] = []
        """The Reservations of which something changed, once for each change, the last one last."""
        self.held = tuple(_held(cluster, self.changes))
        self.pre_allocating = tuple([each for each in self.held if each.reservation.pre_allocation or each.is_waiting])
        """Those that may take room that pods still have."""
        self._by_name: dict[str, list[HeldReservation]] = {}
        for each in self.held:
            self._by_name.setdefault(each.name, []).append(each)
        self._by_uid = {each.reservation.uid: each for each in self.held if each.reservation.uid}
        index, now = cluster.table.index, cluster.snapshot.taken_at
        for each in self.held:
            reservation = each.reservation
            is_over = now is not None and reservation.has_expired(now)
            if reservation.is_active and reservation.node_name in index and not is_over:
                each.node = index[reservation.node_name]
        for pod, node in cluster.placed_pods:
            owned = self._owned_by(pod, node)
            if owned is not None and owned.is_used_once:
                owned.is_spent = True

    def fingerprint(self) -> object:
        return [each.state() for each in self.held]

    def waiting(self, name: str) -> HeldReservation | None:
        """The one of this name, if it has no node."""
        return next((each for each in self._by_name.get(name, ()) if each.node == NO_NODE), None)

    @property
    def is_one_waiting(self) -> bool:
        """Whether any of them has no node."""
        return any(each.node == NO_NODE for each in self.held)

    def amounts(self, pod: Pod) -> Amounts:
        """What a pod takes of a Reservation: its requests, whatever an in-place resize has made of them."""
        return self._table.demand(pod.spec.requests, {}).amounts

    def count(self, pod: Pod, node: int, sign: int, *, is_terminating: bool) -> None:
        """An owner keeps what it has of a Reservation until it is gone."""
        owned = self._owned_by(pod, node)
        if owned is not None:
            owned.change(self.amounts(pod), self._devices(pod), sign)

    def _devices(self, pod: Pod) -> AllocatedDevices:
        """What an owner has of devices: the same value each time."""
        known = self._devices_by_owner.get(pod.uid)
        if known is None:
            known = self._devices_by_owner[pod.uid] = devices_of(pod.annotations)
        return known

    def _owned_by(self, pod: Pod, node: int) -> HeldReservation | None:
        text = pod.annotations.get(RESERVATION_ALLOCATED_ANNOTATION) if pod.annotations else None
        # A reserve pod or a new pod may have the annotation of the pod that its template was copied from; of pods that
        # were placed since the snapshot was taken OwnerLedger knows.
        if not text or not pod.node_name or is_reserve_pod(pod):
            return None
        owned = self._by_uid.get(allocated_reservation(text))
        return owned if owned is not None and node not in (NO_NODE,) and owned.node == node else None


def _held(cluster: ShadowCluster, changes: list[HeldReservation]) -> Iterator[HeldReservation]:
    kinds: dict[object, int] = {}
    for reservation in cluster.snapshot.reservations:
        if reservation.pod is not None and (reservation.is_active or reservation.is_pending):
            yield HeldReservation(reservation, reservation.pod, cluster.table, changes, kinds)

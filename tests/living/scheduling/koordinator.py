"""koord-scheduler: a scheduler that places Reservations, and pods by way of them; and its Reservation controller."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from tests.living.acting.actor import Actor
from tests.living.api.request import Target
from tests.living.api.writes import bind
from tests.living.clock import to_time
from tests.living.resources import by_plural
from tests.living.scheduling.amounts import Amounts, added, as_text, duration_seconds, pod_requests, summed
from tests.living.scheduling.filters import obstacles
from tests.living.scheduling.quotas import exceeded_quota
from tests.living.scheduling.reservation_affinity import needs_reservation
from tests.living.scheduling.reservations import (
    ALLOCATED,
    active_reservations,
    fullness,
    may_use,
    order_of,
    owners_of,
    remaining,
    reserve_pod,
)
from tests.living.scheduling.rooms import NodeRoom
from tests.living.scheduling.scheduler import Placement, Scheduler, free_share
from tests.living.store import Object, Store

_KIND = "reservations.scheduling.koordinator.sh"
_RESERVE_POD = "ReservePod"
_RESYNC_SECONDS = 60.0


class KoordScheduler(Scheduler):
    """Without `writes_allocations` it is configured as its shipped manifest has it, which lacks `Reservation` under
    `reserve`: pods are placed as if they used a Reservation, and no trace of that is written."""

    def __init__(self, store: Store, *, writes_allocations: bool = True) -> None:
        self._writes_allocations = writes_allocations
        super().__init__(store, "koord-scheduler")

    def pending(self) -> Iterable[Object]:
        """Pods, and the reserve pods of Reservations that have no node yet."""
        yield from super().pending()
        for found in self.store.all(_KIND):
            status = found.get("status") or {}
            if status.get("phase") in (None, "", "Pending") and not status.get("nodeName"):
                pod = reserve_pod(found)
                if pod["spec"]["schedulerName"] in self._names:
                    yield pod

    def rooms(self) -> list[NodeRoom]:
        """The nodes, of which Reservations hold a part."""
        return [replace(room, held=self._held(room)) for room in super().rooms()]

    def refusal(self, pod: Object) -> str:
        """Quotas are looked at before any node."""
        return exceeded_quota(self.store, pod)

    def placement_on(self, pod: Object, room: NodeRoom, rooms: Sequence[NodeRoom]) -> Placement | list[str]:
        """By way of the Reservation with the lowest order, else of that which the pod fills best, else beside them.

        The node with the lowest order comes first, then that with the fullest Reservation (`scoring.go`).
        """
        strict = (pod["metadata"].get("annotations") or {}).get("scheduling.koordinator.sh/reservation-node")
        if pod["kind"] == _RESERVE_POD:
            if strict not in (None, room.name):
                return ["node(s) didn't match the requested node name"]
            return super().placement_on(pod, room, rooms)
        usable = [
            (order_of(found) or float("inf"), -fullness(pod, found, room.pods), found["metadata"]["name"], found)
            for found in active_reservations(self.store, room.name)
            if may_use(pod, found, room.node, room.pods)
            and not obstacles(pod, room, rooms, relief=(left := remaining(found, room.pods)))
            and _is_within(pod, found, left)
        ]
        if usable:
            order, emptiness, _, found = min(usable, key=lambda item: item[:3])
            rank = (-2.0, order) if order_of(found) else (emptiness, -free_share(pod, room))
            return Placement(room, (*rank, room.name), found)
        if needs_reservation(pod):
            return ["node(s) no reservations match reservation affinity"]
        return super().placement_on(pod, room, rooms)

    def place(self, pod: Object, placement: Placement) -> None:
        """Binds the pod, or makes the Reservation available."""
        if pod["kind"] == _RESERVE_POD:
            self._reserve(pod, placement.room.name)
            return
        annotations = {}
        if placement.reservation is not None and self._writes_allocations:
            metadata = placement.reservation["metadata"]
            annotations[ALLOCATED] = json.dumps({"name": metadata["name"], "uid": metadata["uid"]})
        target = Target(by_plural("pods"), pod["metadata"]["namespace"], pod["metadata"]["name"])
        bind(self.store, target, {"target": {"name": placement.room.name}, "metadata": {"annotations": annotations}})

    def tell_unschedulable(self, pod: Object, message: str) -> None:
        """Of the pod, or of the Reservation."""
        if pod["kind"] != _RESERVE_POD:
            super().tell_unschedulable(pod, message)
            return
        condition = _condition("Scheduled", "False", "Unschedulable", message)
        self._write(pod, lambda status: status.update(phase="Pending", conditions=[condition]))

    def _held(self, room: NodeRoom) -> Amounts:
        return summed(remaining(found, room.pods) for found in active_reservations(self.store, room.name))

    def _reserve(self, pod: Object, node: str) -> None:
        allocatable = {name: as_text(nano) for name, nano in pod_requests(pod).items() if name != "pods"}
        conditions = [_condition("Scheduled", "True", "Scheduled"), _condition("Ready", "True", "Available")]
        parts = {"phase": "Available", "nodeName": node, "allocatable": allocatable, "conditions": conditions}
        self._write(pod, lambda status: status.update(parts))

    def _write(self, pod: Object, edit: Callable[[Object], None]) -> None:
        at, name = self.store.clock.text(), pod["metadata"]["annotations"]["scheduling.koordinator.sh/reservation-name"]

        def changed(found: Object) -> None:
            status = found.setdefault("status", {})
            known = {item["type"]: item for item in status.get("conditions", [])}
            edit(status)
            for item in status["conditions"]:
                same = known.get(item["type"], {})
                keeps = same.get("status") == item["status"]
                item["lastTransitionTime"] = same["lastTransitionTime"] if keeps else at

        self.store.edit(_KIND, name, "", changed)


class ReservationController(Actor):
    """Notes who uses a Reservation, ends those that are used up, and those whose time is over."""

    name = "reservation-controller"
    kinds = frozenset({"Pod", "Reservation", "Node"})
    delay_seconds = 0.1

    def act(self) -> None:
        for found in self.store.all(_KIND):
            status = found.get("status") or {}
            if status.get("nodeName") and status.get("phase") in ("Available", "Waiting"):
                self._sync(found)
        self.wake(_RESYNC_SECONDS)

    def _sync(self, found: Object) -> None:
        node = found["status"]["nodeName"]
        pods = [pod for pod in self.store.all("pods") if pod["spec"].get("nodeName") == node]
        owners = owners_of(found, pods)
        if self._has_expired(found) or self.store.get("nodes", node) is None:
            self._end(found, "Failed", "Expired", {})
            return
        parts: Object = {}
        if owners or found["status"].get("currentOwners"):
            named = [{name: pod["metadata"][name] for name in ("namespace", "name", "uid")} for pod in owners]
            allocated = summed(map(pod_requests, owners))
            kept = {name: as_text(allocated.get(name, 0)) for name in found["status"].get("allocatable") or {}}
            parts = {"currentOwners": named, "allocated": kept}
        if owners and found["spec"].get("allocateOnce", True):
            self._end(found, "Succeeded", "Succeeded", parts)
        elif parts:
            self.store.edit(_KIND, found["metadata"]["name"], "", lambda item: item["status"].update(parts))

    def _has_expired(self, found: Object) -> bool:
        spec, now = found["spec"], self.store.clock.now()
        ttl = duration_seconds(str(spec.get("ttl") or "0"))
        if not ttl:
            return False
        ends_at = to_time(found["metadata"]["creationTimestamp"]) + timedelta(seconds=ttl)
        if spec.get("expires"):
            ends_at = min(ends_at, to_time(spec["expires"]))
        if now <= ends_at:
            self.wake((ends_at - now).total_seconds() + 0.1)
        return now > ends_at

    def _end(self, found: Object, phase: str, reason: str, parts: Object) -> None:
        at = self.store.clock.text()

        def ended(item: Object) -> None:
            status = item["status"]
            ready = {**_condition("Ready", "False", reason), "lastTransitionTime": at}
            others = [known for known in status.get("conditions", []) if known["type"] != "Ready"]
            status.update(parts, phase=phase, conditions=[*others, ready])

        self.store.edit(_KIND, found["metadata"]["name"], "", ended)


def _is_within(pod: Object, reservation: Object, left: Amounts) -> bool:
    """Whether what a Restricted Reservation holds is enough by itself."""
    if reservation["spec"].get("allocatePolicy") != "Restricted":
        return True
    beyond = added(pod_requests(pod), left, -1)
    return all(beyond.get(name, 0) <= 0 for name in left)


def _condition(kind: str, value: str, reason: str, message: str = "") -> Object:
    return {"type": kind, "status": value, "reason": reason} | ({"message": message} if message else {})

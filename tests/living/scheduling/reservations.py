"""Reservations of Koordinator: reserve pods, who may use what is held, and how much of it is left."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.living.scheduling.amounts import Amounts, amounts, pod_requests, summed
from tests.living.scheduling.reservation_affinity import accepts
from tests.living.scheduling.rooms import is_finished
from tests.living.selectors import matches
from tests.living.store import Object, Store, copied

ALLOCATED = "scheduling.koordinator.sh/reservation-allocated"
_IGNORED = "scheduling.koordinator.sh/reservation-ignored"
_ORDER = "scheduling.koordinator.sh/reservation-order"
_ACTIVE = ("Available", "Waiting")
_HIGHEST_PRIORITY = 2**31 - 1


def reserve_pod(reservation: Object) -> Object:
    """The pod that stands for a Reservation while it is placed (its template, under the Reservation's name and uid)."""
    template = copied(reservation["spec"]["template"])
    metadata, own = template.get("metadata") or {}, reservation["metadata"]
    spec = template.get("spec") or {}
    strict = spec.pop("nodeName", "")
    labels = {**(metadata.get("labels") or {}), **(own.get("labels") or {})}
    marks = {"scheduling.koordinator.sh/reservation-name": own["name"]}
    marks |= {"scheduling.koordinator.sh/reservation-node": strict} if strict else {}
    annotations = {**(metadata.get("annotations") or {}), **(own.get("annotations") or {}), **marks}
    priority = spec.get("priority", int(labels.get("koordinator.sh/priority", _HIGHEST_PRIORITY)))
    scheduler = spec.get("schedulerName") or "default-scheduler"
    return {
        "apiVersion": "v1",
        "kind": "ReservePod",
        "metadata": {
            "name": own["uid"],
            "uid": own["uid"],
            "namespace": metadata.get("namespace") or "default",
            "labels": labels,
            "annotations": annotations,
            "creationTimestamp": own["creationTimestamp"],
        },
        "spec": {**spec, "priority": priority, "schedulerName": scheduler},
        "status": {"phase": "Pending"},
    }


def active_reservations(store: Store, node: str) -> list[Object]:
    """The Reservations that hold something of a node."""
    return [
        found
        for found in store.all("reservations.scheduling.koordinator.sh")
        if (status := found.get("status") or {}).get("nodeName") == node and status.get("phase") in _ACTIVE
    ]


def owners_of(reservation: Object, pods: Sequence[Object]) -> list[Object]:
    """The pods among `pods` that use the Reservation, by their annotation."""
    return [
        pod for pod in pods if _allocated(pod).get("uid") == reservation["metadata"]["uid"] and not is_finished(pod)
    ]


def remaining(reservation: Object, pods: Sequence[Object]) -> Amounts:
    """What is held and not used by the owners among `pods`."""
    used = summed(map(pod_requests, owners_of(reservation, pods)))
    return {name: max(0, held - used.get(name, 0)) for name, held in _held(reservation).items()}


def fullness(pod: Object, reservation: Object, pods: Sequence[Object]) -> float:
    """The mean share of each held resource that is used with the pod in it; 0 for those of which it has too little."""
    held, needed = _held(reservation), pod_requests(pod)
    used = summed(map(pod_requests, owners_of(reservation, pods)))
    filled = {name: used.get(name, 0) + needed.get(name, 0) for name in held}
    return sum(filled[name] / held[name] for name in held if filled[name] <= held[name] > 0) / max(1, len(held))


def may_use(pod: Object, reservation: Object, node: Object, pods: Sequence[Object]) -> bool:
    """Whether a pending pod may be placed by way of the Reservation, whose `node` has `pods`."""
    spec, metadata = reservation["spec"], pod["metadata"]
    if (metadata.get("labels") or {}).get(_IGNORED) == "true" or not is_owner(pod, spec["owners"]):
        return False
    if spec.get("allocateOnce", True) and owners_of(reservation, pods):
        return False
    return accepts(pod, reservation, node)


def is_owner(pod: Object, owners: Sequence[Object]) -> bool:
    """Whether one of the entries fits the pod."""
    return any(_fits(pod, entry) for entry in owners)


def order_of(reservation: Object) -> int:
    """Its order, lower ones come first; 0 for none."""
    return int((reservation["metadata"].get("labels") or {}).get(_ORDER, 0))


def _held(reservation: Object) -> Amounts:
    return amounts((reservation.get("status") or {}).get("allocatable"))


def _allocated(pod: Object) -> Any:
    text = (pod["metadata"].get("annotations") or {}).get(ALLOCATED)
    return json.loads(text) if text else {}


def _fits(pod: Object, entry: Object) -> bool:
    metadata = pod["metadata"]
    stated = entry.get("object") or {}
    if any(stated.get(name) not in (None, "", metadata[name]) for name in ("uid", "name", "namespace")):
        return False
    if stated.get("apiVersion"):  # pods of a cache state none
        return False
    if (wanted := entry.get("controller")) and not _is_controlled(metadata, wanted):
        return False
    selector = entry.get("labelSelector")
    return selector is None or matches(selector, metadata.get("labels"))


def _is_controlled(metadata: Object, wanted: Object) -> bool:
    if wanted.get("namespace") not in (None, "", metadata["namespace"]):
        return False
    parts = [name for name in ("controller", "uid", "name", "kind", "apiVersion") if wanted.get(name)]
    references = metadata.get("ownerReferences") or ()
    return any(all(reference.get(name) == wanted[name] for name in parts) for reference in references)

"""What a pod says of the Reservations that it wants: by name, by labels, with taints, with exact amounts."""

from __future__ import annotations

import json
from typing import Any

from tests.living.scheduling.amounts import amounts, pod_requests
from tests.living.selectors import requirement_holds
from tests.living.store import Object

_AFFINITY = "scheduling.koordinator.sh/reservation-affinity"
_EXACT = "scheduling.koordinator.sh/exact-match-reservation"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def needs_reservation(pod: Object) -> bool:
    """Whether the pod is placed by way of a Reservation or not at all."""
    return any(_affinity(pod).get(name) for name in ("name", _REQUIRED, "reservationSelector"))


def accepts(pod: Object, reservation: Object, node: Object) -> bool:
    """Whether pod and Reservation, which is on `node`, suit each other, owners and amounts left aside.

    A pod that names the Reservation gets it whatever its taints, and though it is closed to others.
    """
    affinity, spec, metadata = _affinity(pod), reservation["spec"], reservation["metadata"]
    if affinity.get("name"):
        return bool(affinity["name"] == metadata["name"])
    if spec.get("unschedulable") or "deletionTimestamp" in metadata:
        return False
    if not all(_is_tolerated(taint, affinity.get("tolerations") or ()) for taint in spec.get("taints") or ()):
        return False
    own, labels = metadata.get("labels") or {}, {**(node["metadata"].get("labels") or {})}
    labels |= own
    if any(own.get(key) != value for key, value in (affinity.get("reservationSelector") or {}).items()):
        return False
    terms = (affinity.get(_REQUIRED) or {}).get("reservationSelectorTerms")
    if terms and not any(_term_holds(term, labels, node) for term in terms):
        return False
    return _is_exact(pod, reservation)


def _affinity(pod: Object) -> Any:
    text = (pod["metadata"].get("annotations") or {}).get(_AFFINITY)
    return json.loads(text) if text else {}


def _term_holds(term: Object, labels: Object, node: Object) -> bool:
    names = {"metadata.name": node["metadata"]["name"]}
    return all(requirement_holds(found, labels) for found in term.get("matchExpressions") or ()) and all(
        requirement_holds(found, names) for found in term.get("matchFields") or ()
    )


def _is_tolerated(taint: Object, tolerations: Any) -> bool:
    return taint.get("effect") == "PreferNoSchedule" or any(
        found.get("key") in (None, "", taint["key"])
        and found.get("effect") in (None, "", taint.get("effect"))
        and (found.get("operator") == "Exists" or (found.get("value") or "") == (taint.get("value") or ""))
        for found in tolerations
    )


def _is_exact(pod: Object, reservation: Object) -> bool:
    text = (pod["metadata"].get("annotations") or {}).get(_EXACT)
    names = json.loads(text).get("resourceNames") or () if text else ()
    held, needed = amounts((reservation.get("status") or {}).get("allocatable")), pod_requests(pod)
    return all(held.get(name, 0) == needed.get(name, 0) for name in names)

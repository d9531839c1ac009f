"""What pods say about Reservations, in annotations and labels, and whether a pod may use a Reservation.

Follows koordinator 1.8: `apis/extension/reservation.go`, and `transformer.go` (prepareMatchReservationState).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

import msgspec

from descheduler.cluster.decoding.affinity_blocks import decode_node_affinity
from descheduler.cluster.decoding.blocks import decode_tolerations
from descheduler.model.koordinator.reservation import Reservation
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.taints import NO_EXECUTE, NO_SCHEDULE, Taint, Toleration, tolerates_all


class OwnerMatch(Enum):
    """What comes of a pod and a Reservation; the words are those of koord-scheduler's events."""

    MATCHED = "is matched"
    IGNORED = "is ignored"
    """The pod may use what any Reservation holds, and is no owner of it."""
    OTHER_OWNER = "is for other pods"
    OTHER_NAME = "didn't match the requested reservation name"
    UNSCHEDULABLE = "is unschedulable"
    UNTOLERATED = "had untolerated taint"
    AFFINITY = "didn't match affinity rules"
    NOT_EXACT = "is not exact matched"

    @property
    def gives_room(self) -> bool:
        """Whether the pod may use what the Reservation holds."""
        return self in (OwnerMatch.MATCHED, OwnerMatch.IGNORED)

    @property
    def is_owned(self) -> bool:
        """Whether the pod is an owner, or counts as one."""
        return self is not OwnerMatch.OTHER_OWNER


def match(pod: Pod, request: ReservationRequest, reservation: Reservation, node: Node) -> OwnerMatch:
    """What comes of `pod`, which says `request`, and an available Reservation on `node`."""
    if request.is_ignoring:
        return OwnerMatch.IGNORED
    if not any(owner.matches(pod) for owner in reservation.owners):
        return OwnerMatch.OTHER_OWNER
    found = OwnerMatch.MATCHED
    if request.affinity is not None:
        found = _asked_for(request.affinity, reservation, node)
    elif reservation.unschedulable or reservation.is_terminating:
        found = OwnerMatch.UNSCHEDULABLE
    # A pod without the annotation is never asked about taints.
    if found is OwnerMatch.MATCHED and not _is_exact(pod, request, reservation):
        return OwnerMatch.NOT_EXACT
    return found


def _asked_for(affinity: ReservationAffinity, reservation: Reservation, node: Node) -> OwnerMatch:
    if affinity.name:
        return OwnerMatch.MATCHED if affinity.name == reservation.name else OwnerMatch.OTHER_NAME
    if reservation.unschedulable or reservation.is_terminating:
        return OwnerMatch.UNSCHEDULABLE
    if affinity.untolerated(reservation.taints) is not None:
        return OwnerMatch.UNTOLERATED
    if not affinity.matches(reservation.name, {**node.labels, **reservation.labels}):
        return OwnerMatch.AFFINITY
    return OwnerMatch.MATCHED


def _is_exact(pod: Pod, request: ReservationRequest, reservation: Reservation) -> bool:
    """Whether the named resources are the same; one that neither has ends the comparison, as in Koordinator."""
    held, asked = reservation.amounts, pod.spec.requests
    for name in request.exact:
        if name not in held and name not in asked:
            return True
        if held.get(name) != asked.get(name):
            return False
    return True


AFFINITY_ANNOTATION = "scheduling.koordinator.sh/reservation-affinity"
EXACT_MATCH_ANNOTATION = "scheduling.koordinator.sh/exact-match-reservation"
IGNORED_LABEL = "scheduling.koordinator.sh/reservation-ignored"
ORDER_LABEL = "scheduling.koordinator.sh/reservation-order"

_MOST_TEXTS = 4096


class ReservationAffinity(NamedTuple):
    """The Reservations that a pod asks for: it goes nowhere without one.

    `terms` are ORed, None where none are stated; `name` leaves all else but the owner and the exact match aside.
    """

    name: str = ""
    labels: Mapping[str, str] = {}
    terms: tuple[NodeSelectorTerm, ...] | None = None
    tolerations: tuple[Toleration, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a Reservation of this name is asked for; `labels` are its own on top of those of its node."""
        if any(labels.get(key) != value for key, value in self.labels.items()):
            return False
        return self.terms is None or any(
            not term.is_empty and not term.error and term.matches(name, labels) for term in self.terms
        )

    def untolerated(self, taints: tuple[Taint, ...]) -> Taint | None:
        """The first of a Reservation's taints that keeps the pod away."""
        hard = (taint for taint in taints if taint.effect in (NO_SCHEDULE, NO_EXECUTE))
        return next((taint for taint in hard if not tolerates_all(self.tolerations, (taint,))), None)


class ReservationRequest(NamedTuple):
    """What one pod says. `affinity` is None where the pod goes without a Reservation as well.

    `exact` are resources of which a Reservation has to hold exactly the pod's request. `fault` says what cannot be
    read, for which koord-scheduler places the pod nowhere; it is empty otherwise.
    """

    affinity: ReservationAffinity | None = None
    exact: tuple[str, ...] = ()
    is_ignoring: bool = False
    fault: str = ""


_NOTHING = ReservationRequest()


class _AffinityWire(msgspec.Struct, rename="camel"):
    name: str | None = None
    required: _RequiredWire | None = msgspec.field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")
    reservation_selector: dict[str, str] | None = None
    tolerations: msgspec.Raw = msgspec.Raw(b"null")


class _RequiredWire(msgspec.Struct, rename="camel"):
    reservation_selector_terms: msgspec.Raw = msgspec.Raw(b"null")


class _ExactWire(msgspec.Struct, rename="camel"):
    resource_names: list[str] | None = None


_read_affinity = msgspec.json.Decoder(_AffinityWire | None).decode
_read_exact = msgspec.json.Decoder(_ExactWire | None).decode


def request_of(pod: Pod) -> ReservationRequest:
    """What `pod` says about Reservations."""
    is_ignoring = pod.labels.get(IGNORED_LABEL) == "true"
    affinity, exact = pod.annotations.get(AFFINITY_ANNOTATION), pod.annotations.get(EXACT_MATCH_ANNOTATION)
    if affinity is None and not exact:
        return ReservationRequest(is_ignoring=True) if is_ignoring else _NOTHING
    return _request(affinity, exact or "", is_ignoring=is_ignoring)


@lru_cache(maxsize=_MOST_TEXTS)
def _request(affinity: str | None, exact: str, *, is_ignoring: bool) -> ReservationRequest:
    try:
        return ReservationRequest(
            None if affinity is None else _affinity(affinity),
            tuple((_read_exact(exact) or _ExactWire()).resource_names or ()) if exact else (),
            is_ignoring,
        )
    except (ValueError, RecursionError) as error:
        return ReservationRequest(fault=f"its Reservation annotations cannot be read: {error}")


def _affinity(text: str) -> ReservationAffinity:
    wire = (_read_affinity(text) if text else None) or _AffinityWire()
    required = wire.required
    terms = None
    if required is not None:
        block = b'{"nodeSelectorTerms":' + bytes(required.reservation_selector_terms) + b"}"
        terms = decode_node_affinity(block) or ()
    return ReservationAffinity(
        wire.name or "", wire.reservation_selector or {}, terms, decode_tolerations(bytes(wire.tolerations))
    )

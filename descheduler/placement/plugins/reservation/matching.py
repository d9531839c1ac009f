"""Whether a pod may use a Reservation (koordinator 1.8 `transformer.go`, prepareMatchReservationState)."""

from __future__ import annotations

from enum import Enum

from descheduler.model.koordinator.reservation import Reservation
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.plugins.reservation.pod_protocol import ReservationAffinity, ReservationRequest

__all__ = ["Match", "match"]


class Match(Enum):
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
        return self in (Match.MATCHED, Match.IGNORED)

    @property
    def is_owned(self) -> bool:
        """Whether the pod is an owner, or counts as one."""
        return self is not Match.OTHER_OWNER


def match(pod: Pod, request: ReservationRequest, reservation: Reservation, node: Node) -> Match:
    """What comes of `pod`, which says `request`, and an available Reservation on `node`."""
    if request.is_ignoring:
        return Match.IGNORED
    if not any(owner.matches(pod) for owner in reservation.owners):
        return Match.OTHER_OWNER
    found = Match.MATCHED
    if request.affinity is not None:
        found = _asked_for(request.affinity, reservation, node)
    elif reservation.unschedulable or reservation.is_terminating:
        found = Match.UNSCHEDULABLE
    # A pod without the annotation is never asked about taints.
    if found is Match.MATCHED and not _is_exact(pod, request, reservation):
        return Match.NOT_EXACT
    return found


def _asked_for(affinity: ReservationAffinity, reservation: Reservation, node: Node) -> Match:
    if affinity.name:
        return Match.MATCHED if affinity.name == reservation.name else Match.OTHER_NAME
    if reservation.unschedulable or reservation.is_terminating:
        return Match.UNSCHEDULABLE
    if affinity.untolerated(reservation.taints) is not None:
        return Match.UNTOLERATED
    if not affinity.matches(reservation.name, {**node.labels, **reservation.labels}):
        return Match.AFFINITY
    return Match.MATCHED


def _is_exact(pod: Pod, request: ReservationRequest, reservation: Reservation) -> bool:
    """Whether the named resources are the same; one that neither has ends the comparison, as in Koordinator."""
    held, asked = reservation.amounts, pod.spec.requests
    for name in request.exact:
        if name not in held and name not in asked:
            return True
        if held.get(name) != asked.get(name):
            return False
    return True

"""Whether a pod may use a Reservation (koordinator 1.8 `transformer.go`, prepareMatchReservationState)."""

from __future__ import annotations

from enum import Enum

from descheduler.model.koordinator.reservation import Reservation
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.plugins.reservation.pod_protocol import ReservationAffinity, ReservationRequest

__all__ = ["OwnerMatch", "match"]


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

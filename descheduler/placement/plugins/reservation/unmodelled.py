"""The settings of Reservations that are not modelled, and which pods and nodes it concerns (koordinator 1.8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descheduler.cluster.decoding.koordinator.reservations import decode_owners
from descheduler.model.koordinator.reservation import Reservation, ReservationOwner
from descheduler.model.pod import Pod
from descheduler.placement.plugins.reservation.holdings import HeldReservation
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster

__all__ = ["OPERATING_OWNERS_ANNOTATION", "OperatingPods", "pre_allocations"]

OPERATING_OWNERS_ANNOTATION = "scheduling.koordinator.sh/reservation-owners"
_MODE_LABEL = "scheduling.koordinator.sh/operating-mode"
_OPERATING = "Reservation"

_WAITS = "Reservation {}, which waits for room that pods on {} still have, must not get it first"
_MAY_COME = "Reservation {}, which may reserve room that pods still have (preAllocation), must not be bound to {} first"
_USED = "Reservation {} on {}, which was bound where pods still ran (preAllocation), must have room for it"


class OperatingPods:
    """Pods that act as Reservations: their owners may use the room that they have.

    What they hold counts as in use here, for all.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        found = (pod for pod, node in cluster.placed_pods if node != NO_NODE and _is_operating(pod))
        self._owners: tuple[ReservationOwner, ...] = tuple(
            [owner for pod in found for owner in _owners_of(pod.annotations.get(OPERATING_OWNERS_ANNOTATION, ""))]
        )

    def concern(self, pod: Pod) -> bool:
        """Whether `pod` acts as a Reservation itself, or may use the room of one that does."""
        return _is_operating(pod) or any(owner.matches(pod) for owner in self._owners)


def pre_allocations(
    held: Iterable[HeldReservation], usable: Iterable[HeldReservation], node: int, name: str
) -> Iterator[str]:
    """On what it hangs that a pod gets room on `node`, named `name`, by Reservations that take that of other pods.

    `held` are all Reservations whose pods may go to the node, or that are there; `usable` those of the pod there.
    """
    for each in held:
        if each.node == NO_NODE and _may_come(each.reservation):
            yield _MAY_COME.format(each.name, name)
        elif each.node == node and each.is_waiting:
            yield _WAITS.format(each.name, name)
    for each in usable:
        if each.reservation.pre_allocation:
            yield _USED.format(each.name, name)


def _may_come(reservation: Reservation) -> bool:
    """Whether the scheduler binds it where pods have the room: it does so under policy `Restricted` alone."""
    return bool(
        reservation.pre_allocation
        and reservation.is_restricted
        and reservation.owners
        and not reservation.fault
        and not reservation.is_terminating
    )


def _is_operating(pod: Pod) -> bool:
    return pod.labels.get(_MODE_LABEL) == _OPERATING


def _owners_of(text: str) -> tuple[ReservationOwner, ...]:
    """None for what cannot be read, which matches no pod."""
    try:
        owners, fault = decode_owners(text) if text else ((), "")
    except (ValueError, RecursionError):
        return ()
    return () if fault else owners

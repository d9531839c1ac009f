"""What Reservations hold on a node. Evicting a pod that uses one frees nothing, as its room stays reserved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from descheduler.cluster.decoding.koordinator.reservations import allocated_reservation
from descheduler.model.annotations import RESERVATION_ALLOCATED_ANNOTATION
from descheduler.model.koordinator.reservation import Reservation
from descheduler.model.pod import Pod
from descheduler.model.requests import ResourceList, highest

__all__ = ["HeldByReservations", "held_by_reservations"]


class HeldByReservations(NamedTuple):
    """Amounts in nano units, and the identities of the owners that they cover."""

    amounts: ResourceList
    owners: frozenset[int]


def held_by_reservations(
    node_name: str, pods: Sequence[Pod], reservations: Iterable[Reservation]
) -> HeldByReservations:
    """What active Reservations hold on the node beyond its other `pods`.

    Of one that is for many pods that is what it reserves, or what its owners request where that is more. One for a
    single pod holds nothing once it has an owner.
    """
    amounts: dict[str, int] = {}
    covered: set[int] = set()
    for reservation in reservations:
        if not reservation.is_active or reservation.node_name != node_name:
            continue
        owners = [pod for pod in pods if _uid_of(pod) == reservation.uid]
        if owners and reservation.allocate_once:
            continue
        covered.update(map(id, owners))
        requested: dict[str, int] = {}
        for pod in owners:
            for name, nano in pod.spec.requests.items():
                requested[name] = requested.get(name, 0) + nano
        for name, nano in highest((reservation.amounts, requested)).items():
            amounts[name] = amounts.get(name, 0) + nano
    return HeldByReservations(amounts, frozenset(covered))


def _uid_of(pod: Pod) -> str | None:
    text = pod.annotations.get(RESERVATION_ALLOCATED_ANNOTATION)
    return allocated_reservation(text) if text else None

"""Whether a pod fits with a Reservation on a node, and through which one; which settings of Reservations are not
modelled.

Source: koordinator 1.8 `plugin.go` (filterWithReservations, fitsNode, fitsReservation) and `nominator.go`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from descheduler.cluster.decoding.koordinator.reservations import decode_owners
from descheduler.model.koordinator.reservation import Reservation, ReservationOwner
from descheduler.model.pod import Pod
from descheduler.placement.framework.obstacle import Fact, Said
from descheduler.placement.plugins.reservation.holdings import Amounts, HeldReservation
from descheduler.placement.shadow.node_table import NodeTable
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster

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


_HIGHEST = 100


class NomineesOfOthers(Protocol):
    """What other plugins say of the Reservations of one node that the pod may use."""

    def allow(self, held: HeldReservation) -> bool:
        """Whether the pod gets with `held` what they give."""

    def scores(self, held: Sequence[HeldReservation]) -> Sequence[int]:
        """The sum of what they give to each."""


_UNMET = Said("node(s) no reservation(s) to meet the requirements", "no Reservation meets the requirements")
"""The pod needs a Reservation, and none of those there is of use, for no resource in particular."""


class ReservationFit(NamedTuple):
    """What is against the pod on the node, empty where it fits, and the Reservations that it may use there.

    All of `nominees` are equally good; none is where the pod does without.
    """

    against: tuple[Fact, ...] = ()
    nominees: tuple[HeldReservation, ...] = ()


def fit_on_node(
    asked: Amounts,
    usable: Sequence[HeldReservation],
    node: int,
    table: NodeTable,
    others: NomineesOfOthers,
    *,
    is_required: bool,
) -> ReservationFit:
    """How a pod that asks for `asked` fits on `node`, where it may use the room of `usable`.

    `others` are the plugins beside this one that have a say. `table` is as the scheduler sees it: what `usable` hold is
    free there. The pod may have what is left of one of them beside what none holds; of a `Restricted` one no more than
    is left. Unless it `is_required`, room that none holds will do as well.
    """
    # There may be thousands that are alike.
    example_of = {each.kind: each for each in usable}
    unheld = _unheld(asked, usable, example_of, node, table)
    names = table.resources
    looked_at = {kind: each for kind, each in example_of.items() if is_required or _has_any(each, asked)}
    short = {kind: _short(asked, unheld, each) for kind, each in looked_at.items()}
    refused = {kind: tuple(_restrictions(asked, each, names)) for kind, each in looked_at.items()}
    good = {kind for kind in looked_at if not short[kind] and not refused[kind]}
    short_by_node = {row for rows in short.values() for row in rows}
    fitting = [each for each in usable if each.kind in good] if good else []
    nominees = [each for each in fitting if others.allow(each)]
    if nominees:
        return ReservationFit(nominees=_nominees(asked, nominees, others))
    if is_required:
        by_reservation = (fact for each in usable for fact in refused[each.kind])
        found = (*_node_shortages(short_by_node, names), *by_reservation)
        return ReservationFit(found or (_UNMET,))
    if fitting:  # Filter goes by amounts alone, and nobody is nominated
        return ReservationFit()
    lacking = short_by_node or {row for row, amount in asked if amount > unheld[row]}
    return ReservationFit(_node_shortages(lacking, names))


def _unheld(
    asked: Amounts,
    usable: Sequence[HeldReservation],
    example_of: Mapping[int, HeldReservation],
    node: int,
    table: NodeTable,
) -> Mapping[int, int]:
    """What is free on the node beside what `usable` hold, by resource row."""
    number_of = Counter([each.kind for each in usable])
    free = {row: int(table.allocatable[row, node]) - int(table.requested[row, node]) for row, _ in asked}
    held = {row: sum(number_of[kind] * each.gap(row) for kind, each in example_of.items()) for row in free}
    return {row: left - held[row] for row, left in free.items()}


def _short(asked: Amounts, unheld: Mapping[int, int], held: HeldReservation) -> list[int]:
    """The resources of which too little is left of the Reservation and beside it."""
    return [row for row, amount in asked if amount > unheld[row] + max(0, held.gap(row))]


def _has_any(held: HeldReservation, asked: Amounts) -> bool:
    """Whether it counts any resource that the pod asks for."""
    return not held.limited.isdisjoint(row for row, _ in asked)


def _nominees(
    asked: Amounts, fitting: Sequence[HeldReservation], others: NomineesOfOthers
) -> tuple[HeldReservation, ...]:
    """The Reservations of the lowest order, else those that all plugins prefer: this one by how full they are."""
    if len(fitting) == 1:
        return tuple(fitting)
    ordered = [each.order for each in fitting if each.order]
    if ordered:
        lowest = min(ordered)
        return tuple([each for each in fitting if each.order == lowest])
    given = others.scores(fitting)
    own = {kind: score(asked, each) for kind, each in {each.kind: each for each in fitting}.items()}
    scores = [own[each.kind] + more for each, more in zip(fitting, given, strict=True)]
    highest = max(scores)
    return tuple([each for each, its in zip(fitting, scores, strict=True) if its == highest])


def score(asked: Amounts, held: HeldReservation) -> int:
    """How full the Reservation is with the pod in it, 0 to 100; a resource of which it has too little counts 0."""
    wanted = dict(asked)
    total = 0
    for row, capacity in held.allocatable.items():
        filled = wanted.get(row, 0) + held.allocated(row)
        if filled <= capacity:
            total += _HIGHEST * filled // capacity
    return total // len(held.allocatable) if held.allocatable else 0


def _restrictions(asked: Amounts, held: HeldReservation, names: Sequence[str]) -> Iterable[Fact]:
    """What the Reservation does not grant by its policy."""
    if not held.reservation.is_restricted:
        return
    if held.most_pods is not None and held.num_owners >= held.most_pods:
        yield Said("Reservation(s) Too many pods", "too many pods in the Reservation")
    for row, amount in asked:
        if row in held.limited and amount > held.gap(row):
            name = names[row]
            yield Said(f"Reservation(s) Insufficient {name}", f"insufficient {name} in the Reservation")


def _node_shortages(rows: Iterable[int], names: Sequence[str]) -> tuple[Fact, ...]:
    short = sorted(names[row] for row in rows)
    return tuple(Said(f"Insufficient {name} by node", f"insufficient {name} beside the Reservations") for name in short)

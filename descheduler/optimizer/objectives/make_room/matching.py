"""Which pod goes where, once it is chosen what machines do: pods of a kind are all the same to that choice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.objectives.make_room.pod_kinds import PodKinds


@dataclass(frozen=True, slots=True)
class Exchange:
    """Pods that depart from a machine, and the places there are there then: (kind, node) each."""

    machine: int
    departing: tuple[int, ...]
    places: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Exchanges that go together, with (kind, weight, number) of pending pods placed.

    handed: by kind, how many of its places are given to which smaller kinds.
    """

    exchanges: Sequence[Exchange]
    placed: Sequence[tuple[int, int, int]]
    handed: Mapping[int, Sequence[tuple[int, int]]]


def match(chosen: Chosen, kinds: PodKinds, waiting: Mapping[tuple[int, int], Sequence[int]]) -> list[tuple[int, int]]:
    """(pod, node) for each pod that departs, -1 where there is no place for it, then for pending pods that have one.

    waiting: the pending pods of each kind and weight. Places go to pods that depart first, then to the weightiest.
    """
    places: dict[int, list[int]] = defaultdict(list)
    departing: dict[int, list[int]] = defaultdict(list)
    for exchange in chosen.exchanges:
        for kind, node in exchange.places:
            places[kind].append(node)
        for pod in exchange.departing:
            departing[int(kinds.of[pod])].append(pod)
    pending = _weightiest(chosen, waiting)
    moves: list[tuple[int, int]] = []
    landings: list[tuple[int, int]] = []
    for kind in kinds.largest_first():
        first = len(departing[kind])
        moves += zip_longest(departing[kind], places[kind][:first], fillvalue=PENDING)
        landings += zip(pending[kind], places[kind][first:], strict=False)
        spare = places[kind][first + len(pending[kind]) :]
        for smaller, count in chosen.handed.get(kind, ()):
            places[smaller] += spare[:count]
            spare = spare[count:]
    return moves + landings


def _weightiest(chosen: Chosen, waiting: Mapping[tuple[int, int], Sequence[int]]) -> Mapping[int, list[int]]:
    """The pending pods that are placed, by kind."""
    pending: dict[int, list[int]] = defaultdict(list)
    for kind, weight, count in sorted(chosen.placed, key=lambda one: -one[1]):
        pending[kind] += waiting[kind, weight][:count]
    return pending

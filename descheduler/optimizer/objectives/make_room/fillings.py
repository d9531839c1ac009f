"""What is best put on machines with what they have left, where the places of kinds of pods have prices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrays import PENDING, Floats, Ints
from descheduler.optimizer.objectives.make_room.departures import DepartureChoices
from descheduler.optimizer.objectives.make_room.pod_kinds import PodKinds

_MOST_PODS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Fillings:
    """What is put on s machines: value, float64[s], and kinds and nodes of the pods, int64[s, T], -1 after the last."""

    value: Floats
    kinds: Ints
    nodes: Ints


def fill(departures: DepartureChoices, chosen: Ints, kinds: PodKinds, items: Ints, value: Floats) -> Fillings:
    """The better of two greedy fillings for each departure in `chosen` (int64[s]).

    items: int64[i], the kinds that are put there, with their `value`, float64[i]. One filling takes the dearest that
    fits first, the other that which is dearest for the shares that it takes of the machine's rest.
    """
    need = kinds.need[items].T[:, None, :]
    shares = (need / np.maximum(departures.rest[:, chosen], 1.0)[:, :, None]).sum(axis=0)
    ranks = np.concatenate((np.broadcast_to(value, shares.shape), value / np.maximum(shares, 1e-9)))
    both = _fill_greedily(departures, np.tile(chosen, 2), kinds, items, value, ranks)
    better = np.argmax(both.value.reshape(2, -1), axis=0) * len(chosen) + np.arange(len(chosen))
    return Fillings(both.value[better], both.kinds[better], both.nodes[better])


def _fill_greedily(
    departures: DepartureChoices, chosen: Ints, kinds: PodKinds, items: Ints, value: Floats, ranks: Floats
) -> Fillings:
    """Item by item, of those that fit the one of the highest rank (float64[s, i]), to the fullest node."""
    left = departures.left[:, chosen]
    total = np.zeros(len(chosen))
    put = np.full((2, len(chosen), _MOST_PODS), PENDING)
    active, possible, nodes = np.arange(len(chosen)), departures.fits[chosen][:, items], departures.nodes[chosen]
    free = departures.free(left)
    for step in range(_MOST_PODS):
        goes_on = np.flatnonzero(possible.any(axis=1))
        active, possible, nodes, free = active[goes_on], possible[goes_on], nodes[goes_on], free[:, goes_on]
        if not len(active):
            break
        item = np.argmax(np.where(possible, ranks[active], -np.inf), axis=1)
        place = _fullest(free, nodes, kinds, items[item])
        put[:, active, step] = items[item], nodes[np.arange(len(active)), place]
        total[active] += value[item]
        for parts in departures.taken.T:
            left[:, active, parts[place]] -= kinds.need[items[item]].T
        free = departures.free(left[:, active])
        possible = kinds.fit(items, free, nodes, possible)
    return Fillings(total, put[0], put[1])


def _fullest(free: Floats, nodes: Ints, kinds: PodKinds, kind: Ints) -> Ints:
    """int64[s]: the column of the fullest of the nodes (int64[s, n]) that a pod of each kind (int64[s]) fits."""
    fits = kinds.allowed[kinds.row[kind][:, None], nodes]
    for need, room in zip(kinds.need[kind].T, free, strict=True):
        fits &= room >= need[:, None]
    room = np.where(fits, free, 0.0)
    fullness = (room / np.maximum(room.max(axis=2, keepdims=True), 1.0)).sum(axis=0)
    return np.asarray(np.argmin(np.where(fits, fullness, np.inf), axis=1))

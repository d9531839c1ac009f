"""What machines have left where up to two of their pods depart; those of the same structure are looked at together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Bools, Floats, Ints
from descheduler.optimizer.objectives.make_room.pod_kinds import PodKinds
from descheduler.optimizer.parts import UNLIMITED, Parts

_MOST_DEPARTING = 14
"""Pods of a machine of which pairs are looked at; fewer where there are many machines and kinds: memory is bounded."""
_MOST_ANSWERS = 100_000_000
_MOST_ALIKE = 2


@dataclass(frozen=True, slots=True, eq=False)
class DepartureChoices:
    """S choices of departing pods, of machines whose N nodes are made of C parts in the same way.

    machine: int64[S]. pods: int64[S, 2], -1 where fewer leave.
    nodes:   int64[S, N], the machine's nodes, in the same order for all.
    taken:   int64[N, W], the parts of those nodes; C where there are fewer than W.
    left:    float64[R, S, C + 1], what each part has left then; the last is never scarce.
    rest:    float64[R, S], what they have together of what they have a limited capacity of.
    fits:    bool[S, K], whether a pod of each kind fits.
    """

    machine: Ints
    pods: Ints
    nodes: Ints
    taken: Ints
    left: Floats
    rest: Floats
    fits: Bools

    def free(self, left: Floats) -> Floats:
        """float64[R, s, N]: what nodes have for a pod where parts have `left`, float64[R, s, C + 1]."""
        free: Floats = left[:, :, self.taken[:, 0]]
        for parts in self.taken.T[1:]:
            free = np.minimum(free, left[:, :, parts])
        return np.maximum(free, 0.0)


def departures_of(placement: Arrangement, parts: Parts, kinds: PodKinds, leaving: Ints) -> list[DepartureChoices]:
    """The departures of all machines from where pods are now, of the pods `leaving` (int64[p])."""
    left = parts.capacity - placement.usage.T
    machine = parts.machine[placement.at[leaving]]
    look = np.column_stack((machine, kinds.of[leaving], placement.free[:, placement.at[leaving]].T))
    order = np.lexsort((leaving, *look.T[::-1]))
    leaving, look = leaving[order], look[order]
    is_other = np.ones(len(leaving), bool)
    is_other[_MOST_ALIKE:] = (look[_MOST_ALIKE:] != look[:-_MOST_ALIKE]).any(axis=1)
    cuts = np.searchsorted(look[is_other, 0], np.arange(1, len(parts.nodes_of)))
    choices = _MOST_ANSWERS / (max(len(kinds), 300) * len(parts.nodes_of))
    most = min(max(int((2 * choices) ** 0.5), 1), _MOST_DEPARTING)
    groups: dict[tuple[int, ...], list[_Machine]] = {}
    for number, pods in enumerate(np.split(leaving[is_other], cuts)):
        if len(parts.nodes_of[number]):
            one = _machine(placement, parts, left, number, pods[:most])
            groups.setdefault((*one.taken.shape, *one.taken.ravel().tolist()), []).append(one)
    return [_joined(group, kinds) for group in groups.values()]


@dataclass(frozen=True, slots=True, eq=False)
class _Machine:
    """The departures of one machine: int64[s, 2] pods, float64[s, C, R] left and rest; nodes as in its choices."""

    number: int
    nodes: Ints
    taken: Ints
    pods: Ints
    left: Floats
    rest: Floats


def _machine(placement: Arrangement, parts: Parts, left: Floats, number: int, leaving: Ints) -> _Machine:
    nodes = parts.nodes_of[number]
    taken = parts.taken[nodes]
    own = np.unique(taken[taken >= 0])
    choices = _choices(len(leaving))
    takes = (parts.taken[placement.at[leaving]][:, None, :] == own[:, None]).any(axis=2)
    freed = np.zeros((len(leaving) + 1, len(own), len(placement.need)))
    freed[:-1] = takes[:, :, None] * placement.need.T[leaving][:, None, :]
    own_left = left[own] + freed[choices].sum(axis=1)
    is_limited = parts.capacity[own] < UNLIMITED
    return _Machine(
        number,
        nodes,
        np.where(taken >= 0, np.searchsorted(own, taken), len(own)),
        np.append(leaving, PENDING)[choices],
        own_left,
        np.where(is_limited.any(axis=0), np.maximum(own_left, 0.0).sum(axis=1, where=is_limited), float(UNLIMITED)),
    )


def _choices(count: int) -> Ints:
    """int64[s, 2]: none, each, and each pair of so many pods, `count` standing for none."""
    first, second = np.triu_indices(count, 1)
    singles = np.column_stack((np.arange(count), np.full(count, count)))
    return np.vstack(([[count, count]], singles, np.column_stack((first, second))))


def _joined(group: Sequence[_Machine], kinds: PodKinds) -> DepartureChoices:
    left = np.concatenate([one.left for one in group]).transpose(2, 0, 1)
    sizes = [len(one.pods) for one in group]
    departures = DepartureChoices(
        machine=np.repeat([one.number for one in group], sizes),
        pods=np.concatenate([one.pods for one in group]),
        nodes=np.repeat([one.nodes for one in group], sizes, axis=0),
        taken=group[0].taken,
        left=np.concatenate((left, np.full((*left.shape[:2], 1), np.inf)), axis=2),
        rest=np.concatenate([one.rest for one in group]).T,
        fits=np.ones((sum(sizes), len(kinds)), bool),
    )
    free = departures.free(departures.left)
    departures.fits[:] = kinds.fit(np.arange(len(kinds)), free, departures.nodes, departures.fits)
    return departures

"""Pods that could leave if nodes had room for them, but no node has under its ceiling, as things are, or few have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrays import PENDING, Bools, Ints
from descheduler.optimizer.objectives.balance_utilization.ceilings import Ceilings
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.rules import AtMost, MaxSkew, MoveLimit

_FEW_NODES = 6
"""A pod is large if no more nodes have room for it: those of several nodes over their ceiling may need the same."""
_MOST_PLACES = 5_000
"""Pairs of a kind and a node that a bound looks at."""
_MOST_PODS = 20_000
"""Pods that can leave the nodes of such pairs: with more of them a bound goes without."""


@dataclass(frozen=True, slots=True, eq=False)
class LargePods:
    """Kinds of large pods.

    pods:     int64[K], one pod of each kind.
    kind:     int64[P], of each pod; -1 for those that are not large.
    capacity: int64[K, N], how many pods of the kind each node has room for once all have left that can.
    has_room: bool[K], whether some node has room for one of the kind as things are.
    """

    pods: Ints
    kind: Ints
    capacity: Ints
    has_room: Bools

    def fits_nowhere(self, pods: Ints) -> Bools:
        """bool[k]: which of `pods` no node has room for as things are."""
        return np.append(~self.has_room, False)[self.kind[pods]]

    @property
    def nodes(self) -> Ints:
        """The nodes that may take one of them."""
        return np.flatnonzero(self.capacity.any(axis=0))


def large_pods(ceilings: Ceilings) -> LargePods:
    """The large pods that can leave.

    If there are many, those that no node has room for come first, and of these the kinds on nodes over their ceiling.
    """
    problem, leaves = ceilings.problem, ceilings.leaves
    movable = np.flatnonzero(leaves)
    first, kind = pod_kinds(problem, movable, costs=False)
    kinds = movable[first]
    room = np.minimum(ceilings.whole_ceiling, problem.capacity) - ceilings.usage
    num_nodes: Ints = (_num_fitting(problem, kinds, room) > 0).sum(axis=1)
    stays = problem.usage(np.where(leaves, PENDING, problem.assignment))
    capacity = _num_fitting(problem, kinds, ceilings.room - stays)
    num_hot = np.bincount(kind, weights=ceilings.was_hot[problem.assignment[movable]], minlength=len(kinds))
    ranked = np.lexsort((-num_hot, num_nodes > 0))
    ranked = ranked[num_nodes[ranked] <= _FEW_NODES]
    kept = ranked[np.cumsum((capacity[ranked] > 0).sum(axis=1)) <= _MOST_PLACES]
    is_place: Bools = np.asarray((capacity[kept] > 0).any(axis=0))
    if is_place[problem.assignment[movable]].sum() > _MOST_PODS:
        kept = kept[:0]
    number = np.full(len(kinds), -1)
    number[kept] = np.arange(len(kept))
    kind_of = np.full(problem.num_pods, -1)
    kind_of[movable] = number[kind]
    return LargePods(kinds[kept], kind_of, capacity[kept], num_nodes[kept] > 0)


def pod_kinds(problem: Problem, pods: Ints, *, costs: bool) -> tuple[Ints, Ints]:
    """The first of `pods` of each kind, int64[K], and the kind of each of them, by their place among `pods`.

    Pods of one kind need the same, may run on the same nodes and count in the same groups of limits and of rules of
    how many there may be in a domain; with `costs` their evictions cost the same.
    """
    groups = [rule.group[pods] for rule in problem.rules if isinstance(rule, AtMost | MaxSkew | MoveLimit)]
    keys = [problem.need[pods], problem.pod_class[pods], *groups, *([problem.cost[pods]] if costs else [])]
    _, first, kind = np.unique(np.column_stack(keys), axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), kind.reshape(-1).astype(np.int64)


def _num_fitting(problem: Problem, kinds: Ints, room: Ints) -> Ints:
    """int64[K, N]: how many pods of each kind have `room` (int64[N, R]) on each node that is open to them."""
    allowed: Bools = problem.allowed[problem.pod_class[kinds]]
    found: Ints = np.where(allowed, problem.num_pods, 0)
    for resource, need in enumerate(problem.need[kinds].T):
        fitting = np.maximum(room[:, resource], 0) // np.maximum(need, 1)[:, None]
        found = np.where(need[:, None] > 0, np.minimum(found, fitting), found)
    return found

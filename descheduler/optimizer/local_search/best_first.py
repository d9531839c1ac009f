"""Steepest descent: of all single moves in the cluster the best one is made, then the best of what is left."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.local_search.shifts import shift_changes
from descheduler.optimizer.objective import Guide
from descheduler.optimizer.placement import Arrangement

__all__ = ["climb_best_first"]

_LEAST_GAIN = 1e-6
_PODS_AT_ONCE = 256


def climb_best_first(placement: Arrangement, guide: Guide, budget: Budget) -> None:
    """Moves pods while the guide's sum falls. What a move does not touch is not evaluated again.

    A kept gain of a pod may be out of date where a rule or a node that filled up stands in its way, so the pod at the
    top is evaluated once more before it is moved.
    """
    pods = np.flatnonzero(placement.problem.evictable & (placement.at >= 0))
    nodes = np.arange(placement.problem.num_nodes)
    gain, target = _best_moves(placement, guide, pods, nodes, budget)
    while len(pods) and not budget.is_over:
        top = int(np.argmin(gain))
        if gain[top] >= -_LEAST_GAIN:
            return
        now, where = _best_moves(placement, guide, pods[[top]], nodes, budget)
        gain[top], target[top] = now[0], where[0]
        if int(np.argmin(gain)) != top or now[0] >= -_LEAST_GAIN:
            continue
        touched = np.array([placement.at[pods[top]], where[0]])
        placement.move(int(pods[top]), int(where[0]))
        _refresh(placement, guide, pods, gain, target, touched, budget)


def _refresh(
    placement: Arrangement, guide: Guide, pods: Ints, gain: Floats, target: Ints, touched: Ints, budget: Budget
) -> None:
    """Evaluates anew pods that are on a touched node or were bound for one, and the touched nodes for all others."""
    nodes = np.arange(placement.problem.num_nodes)
    stale = np.isin(placement.at[pods], touched) | np.isin(target, touched)
    gain[stale], target[stale] = _best_moves(placement, guide, pods[stale], nodes, budget)
    others = np.flatnonzero(~stale)
    near_gain, near = _best_moves(placement, guide, pods[others], touched, budget)
    better = near_gain < gain[others]
    gain[others[better]], target[others[better]] = near_gain[better], near[better]


def _best_moves(placement: Arrangement, guide: Guide, pods: Ints, nodes: Ints, budget: Budget) -> tuple[Floats, Ints]:
    """(float64[k], int64[k]): the change and the node of each pod's best move to one of `nodes`."""
    gain, target = np.full(len(pods), np.inf), np.zeros(len(pods), np.int64)
    for start in range(0, len(pods), _PODS_AT_ONCE):
        some = slice(start, start + _PODS_AT_ONCE)
        change = shift_changes(placement, guide, pods[some], nodes)
        budget.spend_evaluations(change.size * len(placement.usage))
        best = np.argmin(change, axis=1)
        gain[some], target[some] = change[np.arange(len(best)), best], nodes[best]
    return gain, target

"""Single moves: every pod of a node against every other node at once, or of all in the cluster the best one first."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objective import Guide

_LEAST_GAIN = 1e-6
_WORTH_COMPARING = 64
"""So many pods are looked through for equal needs: the arrival of equal pods is evaluated once."""
_PODS_AT_ONCE = 256


def climb_by_shifts(placement: Arrangement, guide: Guide, sources: Ints, budget: Budget) -> None:
    """Moves pods away from each of `sources`, nodes in that order, while the guide's sum falls."""
    for source in sources.tolist():
        while not budget.is_over and _improve_node(placement, guide, source, budget):
            pass


def _improve_node(placement: Arrangement, guide: Guide, source: int, budget: Budget) -> bool:
    """Makes the best move of each pod of `source` that still is one when its turn comes; whether there was any."""
    pods = placement.evictable_on(source)
    if not len(pods):
        return False
    nodes = np.arange(placement.problem.num_nodes)
    change = shift_changes(placement, guide, pods, nodes)
    budget.spend_evaluations(change.size * len(placement.usage))
    best = np.argmin(change, axis=1)
    gains = change[np.arange(len(pods)), best]
    order = np.argsort(gains, kind="stable")
    order = order[gains[order] < -_LEAST_GAIN]
    for rank, row in enumerate(order.tolist()):
        pod, target = pods[[row]], best[[row]]
        if rank == 0 or shift_changes(placement, guide, pod, target)[0, 0] < -_LEAST_GAIN:
            placement.move(int(pod[0]), int(target[0]))
    return len(order) > 0


def shift_changes(placement: Arrangement, guide: Guide, pods: Ints, nodes: Ints) -> Floats:
    """float64[k, n]: what the guide's sum changes by where each pod goes to each node; infinity where it may not."""
    source = placement.at[pods]
    change = _arrival_costs(placement, guide, pods, nodes)
    change += (_departure_costs(placement, guide, pods) - guide.move_cost(pods, source))[:, None]
    change += guide.move_cost(pods[:, None], nodes)
    change[~placement.open_moves(pods, nodes)] = np.inf
    return change


def _departure_costs(placement: Arrangement, guide: Guide, pods: Ints) -> Floats:
    """float64[k]: what the cost of each pod's node, of all its parts, changes by where the pod leaves it."""
    need, usage = placement.need[:, pods], placement.usage
    total = np.zeros(len(pods))
    for parts, has in placement.problem.parts_by_rank(placement.at[pods]):
        change = guide.node_cost(parts, usage[:, parts] - need) - guide.node_cost(parts, usage[:, parts])
        total += change if has is None else np.where(has, change, 0.0)
    return total


def _arrival_costs(placement: Arrangement, guide: Guide, pods: Ints, nodes: Ints) -> Floats:
    """float64[k, n]: what the cost of each node, of all its parts, changes by where each pod arrives."""
    need, usage = placement.need[:, pods], placement.usage
    same: Ints | slice = slice(None)
    if len(pods) >= _WORTH_COMPARING:
        need, same = np.unique(need, axis=1, return_inverse=True)
    total = np.zeros((need.shape[1], len(nodes)))
    for parts, has in placement.problem.parts_by_rank(nodes):
        change = guide.node_cost(parts, need[:, :, None] + usage[:, None, parts])
        change -= guide.node_cost(parts, usage[:, parts])
        total += change if has is None else np.where(has, change, 0.0)
    return np.asarray(total[same])


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

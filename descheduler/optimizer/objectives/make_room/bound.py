"""What making room costs at least: pods have to leave nodes on which pending pods do not fit."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.problem import Problem

__all__ = ["fewest_pods", "least_cost"]


def fewest_pods(weight: Ints, wanted: int) -> int:
    """How many pods it takes at least to reach the weight `wanted`; all of them where they do not."""
    reached = np.cumsum(np.sort(weight)[::-1])
    return min(int(np.searchsorted(reached, wanted)) + 1, len(weight)) if wanted > 0 else 0


def least_cost(problem: Problem, pending: Ints, count: int) -> int:
    """No plan that places `count` of the pods `pending` costs less; where they go is not looked at.

    With k of them on node n, pods of n must have left that need as much as the k smallest together less what is free,
    resource by resource: f[n, k], a fractional covering knapsack, rounded up. The k of all nodes that add up to `count`
    and cost least are found by dynamic programming.
    """
    smallest = np.cumsum(np.sort(problem.need[pending], axis=0), axis=0)[:count].astype(np.float64)
    free = np.maximum(problem.capacity - problem.usage(problem.assignment), 0)
    best = np.full(count + 1, np.inf)
    best[0] = 0.0
    for node in np.flatnonzero(problem.allowed[problem.pod_class[pending]].any(axis=0)).tolist():
        own = np.flatnonzero((problem.assignment == node) & problem.evictable)
        best = _with_node(best, _cover_costs(smallest - free[node], problem.need[own], problem.cost[own]))
    return int(best[count]) if np.isfinite(best[count]) else 0


def _with_node(best: Floats, costs: Floats) -> Floats:
    """The least cost of each number of pods where one more node takes some."""
    after = best.copy()
    for count, cost in enumerate(costs.tolist(), start=1):
        if cost == np.inf:
            break
        after[count:] = np.minimum(after[count:], best[: len(best) - count] + cost)
    return after


def _cover_costs(excess: Floats, need: Ints, cost: Ints) -> Floats:
    """float64[K]: what it costs at least to take each row of `excess` (float64[K, R]) away; infinity: not possible."""
    least = np.zeros(len(excess))
    for resource, missing in enumerate(excess.T):
        order = np.argsort(-need[:, resource] / np.maximum(cost, 1e-9), kind="stable")
        order = order[need[order, resource] > 0]
        taken = np.concatenate(([0], np.cumsum(need[order, resource])))
        spent = np.concatenate(([0], np.cumsum(cost[order])))
        fraction = np.ceil(np.interp(missing, taken, spent) - 1e-9)
        least = np.maximum(least, np.where(missing > taken[-1], np.inf, fraction))
    return least

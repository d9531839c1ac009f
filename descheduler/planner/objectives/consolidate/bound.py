"""How many nodes can be emptied at most, by volume: what leaves must fit into the room of what stays."""

from __future__ import annotations

import numpy as np

from descheduler.planner.arrays import Floats, Ints
from descheduler.planner.objectives.consolidate.drains import Drains

__all__ = ["most_weight_emptied"]

_STEPS = 20


def most_weight_emptied(drains: Drains, weight: Ints) -> int:
    """No set of nodes of more weight (int64[N]) can be emptied.

    Emptying node n takes usage[n] from it and its room[n] from the others: with y[n] = 1 for emptied nodes,
    sum_n y[n] * (usage[n, r] + room[n, r]) <= sum_n room[n, r] for every resource r. Any weighted mean of the
    resources (a surrogate constraint) is one knapsack, of which the fractional optimum is a bound; the least over a
    grid of mixtures is returned.
    """
    nodes = np.flatnonzero(drains.can_empty)
    used = drains.is_used
    room = np.where(used, np.maximum(drains.limit - drains.usage, 0.0), 0.0)
    total = np.maximum(room.sum(axis=1), 1e-12)
    size = ((drains.usage + room)[:, nodes].T / total).T
    best = float(weight[nodes].sum())
    for mixture in _mixtures(len(size)):
        best = min(best, _fractional(mixture @ size, weight[nodes], float(mixture.sum())))
    return int(np.floor(best + 1e-9))


def _mixtures(count: int) -> Floats:
    """float64[M, R]: each resource alone, and each pair in twentieths."""
    rows = [np.eye(count)[resource] for resource in range(count)]
    for first in range(count):
        for second in range(first):
            rows.extend(
                np.eye(count)[first] * step / _STEPS + np.eye(count)[second] * (1 - step / _STEPS)
                for step in range(1, _STEPS)
            )
    return np.array(rows)


def _fractional(size: Floats, weight: Ints, capacity: float) -> float:
    """The fractional knapsack: the best per size first, the last in part."""
    order = np.argsort(-weight / np.maximum(size, 1e-12), kind="stable")
    filled = np.cumsum(size[order])
    whole = int(np.searchsorted(filled, capacity * (1 + 1e-12), side="right"))
    value = float(weight[order][:whole].sum())
    if whole < len(order):
        before = float(filled[whole - 1]) if whole else 0.0
        value += float(weight[order[whole]]) * (capacity - before) / max(float(size[order[whole]]), 1e-12)
    return value

"""An upper bound on a knapsack of several resources, by surrogate constraints."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import Floats, Ints

__all__ = ["most_weight"]

_STEPS = 20


def most_weight(size: Floats, weight: Ints, capacity: Floats) -> int:
    """No items of more weight fit together.

    size: float64[R, M], weight: int64[M], capacity: float64[R]. Any weighted mean of the resources is a knapsack that
    every packing fits (a surrogate constraint, Glover 1965), and its fractional optimum a bound; the least over each
    resource alone and each pair in twentieths is returned.
    """
    useful = np.flatnonzero(capacity > 0)
    weight = np.where((size[capacity <= 0] > 0).any(axis=0), 0, weight)
    best = float(weight.sum())
    share = size[useful] / capacity[useful][:, None]
    for mixture in _mixtures(len(useful)):
        best = min(best, _fractional(mixture @ share, weight))
    return int(np.floor(best + 1e-9))


def _mixtures(count: int) -> list[Floats]:
    """Weights that sum to 1: each resource alone, and each pair."""
    unit = np.eye(count)
    rows = list(unit)
    for first in range(count):
        for second in range(first):
            rows.extend(unit[first] * step / _STEPS + unit[second] * (1 - step / _STEPS) for step in range(1, _STEPS))
    return rows


def _fractional(size: Floats, weight: Ints) -> float:
    """The fractional knapsack of capacity 1: the best per size first, the last in part."""
    order = np.argsort(-weight / np.maximum(size, 1e-12), kind="stable")
    filled = np.cumsum(size[order])
    whole = int(np.searchsorted(filled, 1.0 + 1e-9, side="right"))
    value = float(weight[order][:whole].sum())
    if whole < len(order):
        before = float(filled[whole - 1]) if whole else 0.0
        value += float(weight[order[whole]]) * (1.0 - before) / max(float(size[order[whole]]), 1e-12)
    return value

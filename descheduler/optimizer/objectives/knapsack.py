"""An upper bound on a knapsack of several resources, by surrogate constraints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from descheduler.optimizer.arrays import Floats, Ints

_STEPS = 20


def most_weight(size: Floats, weight: Ints, capacity: Floats) -> int:
    """No items of more weight fit together.

    size: float64[R, M], weight: int64[M], capacity: float64[R]. Any weighted mean of the resources is a knapsack that
    every packing fits (a surrogate constraint, Glover 1965), and its fractional optimum a bound; the least over each
    resource alone and each pair in twentieths is returned, as a multiple of the weights' greatest common divisor.
    """
    step = max(int(np.gcd.reduce(weight)), 1)
    useful = np.flatnonzero(capacity > 0)
    weight = np.where((size[capacity <= 0] > 0).any(axis=0), 0, weight // step)
    best = float(weight.sum())
    share = size[useful] / capacity[useful][:, None]
    if best > 0:
        best = min([best, *(float(_fractional(mixed, weight).min()) for mixed in _mixed(share))])
    return int(np.floor(best + 1e-9)) * step


def _mixed(share: Floats) -> Iterator[Floats]:
    """float64[K, M]: each resource alone, and the means of each pair; a pair at a time, to take little memory."""
    steps = np.arange(1, _STEPS)[:, None] / _STEPS
    for first, own in enumerate(share):
        yield own[None]
        yield from (steps * own + (1 - steps) * other for other in share[:first])


def _fractional(size: Floats, weight: Ints) -> Floats:
    """float64[K]: knapsacks of capacity 1, a row of `size` each: the best per size first, the last in part."""
    order = np.argsort(-weight / np.maximum(size, 1e-12), axis=1, kind="stable")
    size, weight = np.take_along_axis(size, order, axis=1), weight[order]
    filled = np.cumsum(size, axis=1)
    is_whole = filled <= 1.0 + 1e-9
    values: Floats = weight.sum(axis=1, where=is_whole).astype(np.float64)
    rows = np.flatnonzero(~is_whole[:, -1])
    last = is_whole[rows].sum(axis=1)
    before = filled[rows, last] - size[rows, last]
    values[rows] += weight[rows, last] * (1.0 - before) / np.maximum(size[rows, last], 1e-12)
    return values

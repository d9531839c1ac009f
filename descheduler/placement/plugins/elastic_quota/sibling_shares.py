"""What the children of one parent may use, kept up to date child by child."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.plugins.elastic_quota.units import Amounts

__all__ = ["SiblingShares"]

_Columns = NDArray[np.intp] | slice
_ALL = slice(None)


class SiblingShares:
    """Shares of a total among children that have `mins` and `weights`, of which those that `lends` marks lend.

    All arrays have a row a resource and a column a child. `is_known` marks the resources of which mins are scaled. A
    child that wants more than its floor, which is its scaled min or what it is guaranteed, gets the floor first; any
    other gets what it wants, or the floor if it does not lend. What is left is filled up by weight.
    """

    def __init__(self, mins: Amounts, weights: Amounts, lends: NDArray[np.bool_], is_known: NDArray[np.bool_]) -> None:
        self._own_mins = mins
        self._weights = weights
        self._lends = lends
        self._is_known = is_known
        self._wanted = np.zeros_like(mins)
        self._guaranteed = np.zeros_like(mins)
        self._mins = mins
        self._first = np.zeros_like(mins)
        self._sums: Amounts = np.zeros(len(mins), dtype=np.int64)
        self._is_hungry: NDArray[np.bool_] = np.zeros(mins.shape, dtype=bool)
        self._may_get_more: NDArray[np.bool_] = np.zeros(len(lends), dtype=bool)
        self._total: Amounts | None = None
        self._filled: tuple[NDArray[np.intp], Amounts] | None = None

    def change(self, columns: NDArray[np.intp], wanted: Amounts, guaranteed: Amounts) -> None:
        """What the children of these columns, each once, want and are guaranteed from now on."""
        is_new = (self._wanted[:, columns] != wanted) | (self._guaranteed[:, columns] != guaranteed)
        if is_new.any():
            self._wanted[:, columns], self._guaranteed[:, columns] = wanted, guaranteed
            self._give_first(columns)

    def min_of(self, column: int, total: Amounts) -> Amounts:
        """The scaled min of one child where there is `total` for all."""
        self._share(total)
        return self._mins[:, column].copy()

    def of(self, column: int, total: Amounts) -> Amounts:
        """What one child gets where there is `total` for all."""
        self._share(total)
        if self._filled is None:
            self._filled = self._fill_up(total - self._sums)
        if not self._may_get_more[column]:
            return self._first[:, column].copy()
        columns, filled = self._filled
        return filled[:, columns.searchsorted(column)].copy()

    def _share(self, total: Amounts) -> None:
        if self._total is not None and np.array_equal(self._total, total):
            return
        mins = _scaled_mins(self._own_mins, total, self._is_known)
        is_first = self._total is None
        self._total, self._filled = total, None
        if is_first or mins is not self._mins:
            self._mins = mins
            self._give_first(_ALL)

    def _give_first(self, columns: _Columns) -> None:
        wanted = self._wanted[:, columns]
        floors = np.maximum(self._mins[:, columns], self._guaranteed[:, columns])
        is_hungry = wanted > floors
        first = np.where(is_hungry | ~self._lends[columns], floors, wanted)
        self._sums = self._sums + first.sum(axis=1) - self._first[:, columns].sum(axis=1)
        self._first[:, columns] = first
        self._is_hungry[:, columns] = is_hungry
        self._may_get_more[columns] = is_hungry.any(axis=0)
        self._filled = None

    def _fill_up(self, rest: Amounts) -> tuple[NDArray[np.intp], Amounts]:
        """The columns, in order, of children that do not have enough at first, and what these get."""
        (columns,) = self._may_get_more.nonzero()
        wanted, weights = self._wanted.take(columns, axis=1), self._weights.take(columns, axis=1)
        first, is_hungry = self._first.take(columns, axis=1), self._is_hungry.take(columns, axis=1)
        return columns, _fill_up(rest, wanted, weights, first, is_hungry)


def _scaled_mins(mins: Amounts, total: Amounts, is_known: NDArray[np.bool_]) -> Amounts:
    """The min of each child, in proportion less where there is less than all mins together (koordinator 1.8).

    Resources that `is_known` does not mark, as nothing has them, are not scaled. Fractions are cut off, in float64 as
    in `scale_minquota_when_over_root_res.go`.
    """
    sums = mins.sum(axis=1)
    short = is_known & (total < sums)
    if not short.any():
        return mins
    scaled = mins.copy()
    for row in short.nonzero()[0].tolist():
        if total[row] <= 0:
            scaled[row] = 0
        else:
            scaled[row] = (float(total[row]) * mins[row].astype(np.float64) / float(sums[row])).astype(np.int64)
    return scaled


def _fill_up(
    rest: Amounts, wanted: Amounts, weights: Amounts, shares: Amounts, is_hungry: NDArray[np.bool_]
) -> Amounts:
    """`shares` with what is left, `rest`: it goes to those that want more, by weight, up to what they want.

    `rest` has one entry a resource. Whoever has enough leaves the rest to the others. Each share is rounded half up on
    its own, in float64, so that the sum may miss the total by half a unit a child and round (koordinator 1.8
    `runtime_quota_calculator.go`; its main branch hands out exactly what is left).
    """
    while (rest > 0).any():
        weight_sums = np.where(is_hungry, weights, 0).sum(axis=1)
        goes_on = (rest > 0) & (weight_sums > 0) & is_hungry.any(axis=1)
        if not goes_on.any():
            break
        is_hungry = is_hungry & goes_on[:, None]
        divisors = np.where(goes_on, weight_sums, 1).astype(np.float64)
        exact = weights.astype(np.float64) * rest.astype(np.float64)[:, None] / divisors[:, None]
        grown = shares + (np.where(is_hungry, exact, 0.0) + 0.5).astype(np.int64)
        has_enough = is_hungry & (grown >= wanted)
        rest = np.where(has_enough, grown - wanted, 0).sum(axis=1)
        shares = np.where(has_enough, wanted, np.where(is_hungry, grown, shares))
        is_hungry &= ~has_enough
    return shares

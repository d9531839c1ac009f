"""How the resources of a parent quota are shared out to its children (koordinator 1.8 `runtime_quota_calculator.go`).

All arrays have a row a resource and a column a child; `total` and the like have one entry a resource.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.plugins.elastic_quota.units import Amounts

__all__ = ["scaled_mins", "share_out"]


def scaled_mins(mins: Amounts, total: Amounts, is_known: NDArray[np.bool_]) -> Amounts:
    """The min of each child, in proportion less where there is less than all mins together.

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


def share_out(total: Amounts, wanted: Amounts, weights: Amounts, floors: Amounts, lends: NDArray[np.bool_]) -> Amounts:
    """What each child gets of `total`, at most `wanted` where that is above its floor.

    A child that wants more than its floor gets the floor, any other what it wants, or the floor if it does not lend.
    What is left then goes to those that want more, by weight; whoever has enough leaves the rest to the others. Each
    share is rounded half up on its own, in float64, so that the sum may miss `total` by half a unit a child and round
    (Koordinator 1.8.0; its main branch hands out exactly what is left).
    """
    is_hungry = wanted > floors
    shares = np.where(is_hungry, floors, np.where(lends, wanted, floors))
    rest = total - shares.sum(axis=1)
    while True:
        weight_sums = np.where(is_hungry, weights, 0).sum(axis=1)
        goes_on = (rest > 0) & (weight_sums > 0) & is_hungry.any(axis=1)
        if not goes_on.any():
            return shares
        is_hungry &= goes_on[:, None]
        divisors = np.where(goes_on, weight_sums, 1).astype(np.float64)
        exact = weights.astype(np.float64) * rest.astype(np.float64)[:, None] / divisors[:, None]
        grown = shares + (np.where(is_hungry, exact, 0.0) + 0.5).astype(np.int64)
        has_enough = is_hungry & (grown >= wanted)
        rest = np.where(has_enough, grown - wanted, 0).sum(axis=1)
        shares = np.where(has_enough, wanted, np.where(is_hungry, grown, shares))
        is_hungry &= ~has_enough

"""How the resources of a parent quota are shared out to its children (koordinator 1.8 `runtime_quota_calculator.go`).

All arrays have a row a resource and a column a child; `total` and `rest` have one entry a resource.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.plugins.elastic_quota.units import Amounts

__all__ = ["fill_up", "scaled_mins"]


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


def fill_up(rest: Amounts, wanted: Amounts, weights: Amounts, shares: Amounts, is_hungry: NDArray[np.bool_]) -> Amounts:
    """`shares` with what is left, `rest`: it goes to those that want more, by weight, up to what they want.

    Whoever has enough leaves the rest to the others. Each share is rounded half up on its own, in float64, so that the
    sum may miss the total by half a unit a child and round (Koordinator 1.8.0; its main branch hands out exactly what
    is left).
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

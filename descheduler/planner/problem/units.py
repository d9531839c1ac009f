"""What counts as one of each resource in a problem, so that all that pods need adds up to exact numbers.

Problems keep sums as float64, where whole numbers are exact below 2^53: 8 PiB of memory in bytes.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.problem import LARGEST_EXACT

_MOST = 2**61
"""No amount is larger than this."""


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """`sizes`, int64[R]: how many of a resource count as one. `is_exact`: all that pods need are multiples of that.

    Otherwise needs are rounded up, so that plans fit all the same. Where they are `for_bounds`, they are rounded down:
    what does not fit then fits in no plan.
    """

    sizes: Ints
    is_exact: bool = True
    for_bounds: bool = False

    def needs(self, amounts: Ints) -> Ints:
        """int64[..., R]: what pods need, in units."""
        found: Ints = amounts // self.sizes if self.for_bounds else -(-amounts // self.sizes)
        return found

    def room(self, amounts: Ints) -> Ints:
        """int64[..., R]: what nodes have, or may be filled to: rounded down, as needs add up to whole units."""
        found: Ints = amounts // self.sizes
        return found

    def loosest(self) -> Units:
        """The same for bounds."""
        return dataclasses.replace(self, for_bounds=True)

    def amounts(self, counted: Ints) -> Ints:
        """int64[..., R]: what so many units are."""
        found: Ints = np.minimum(counted, _MOST // self.sizes) * self.sizes
        return found


def ones(num_resources: int) -> Units:
    """Each resource in its own unit."""
    return Units(np.ones(num_resources, np.int64))


def fitting(need: Ints, most: Ints) -> Ints:
    """int64[P, R]: `need` without amounts below 0, and where no node has as much, one more than `most` (int64[R])."""
    found: Ints = np.clip(need, 0, most + 1)
    return found


def units_for(need: Ints, most: Ints) -> Units:
    """Units in which `need` (int64[P, R]) adds up to exact sums; 1 of each resource where it does so as it is.

    The greatest common divisor of the amounts, where that is enough, else a power of two, of which most amounts of
    memory are multiples. Nodes have `most` (int64[R]) at most: what is more fits nowhere, whatever it is.
    """
    sizes, is_exact = np.ones(need.shape[1], np.int64), True
    for column in np.flatnonzero(fitting(need, most).sum(axis=0, dtype=np.float64) >= LARGEST_EXACT).tolist():
        amounts = need[need[:, column] <= most[column], column]
        size = int(np.gcd.reduce(amounts)) or int(most[column]) + 1
        total = float(np.minimum(need[:, column], most[column] + size).sum(dtype=np.float64))
        if total / size >= LARGEST_EXACT:
            # At least twice as large as needed, as each amount is rounded up.
            size, is_exact = 1 << int(2 * total / LARGEST_EXACT).bit_length(), False
        sizes[column] = size
    return Units(sizes, is_exact)


def counted_needs(units: Units, need: Ints, most: Ints) -> Ints:
    """int64[P, R]: `need` in `units`; what no node has as much of is more than all have, however it is rounded."""
    found: Ints = np.where(need > most, units.room(most) + 1, units.needs(fitting(need, most)))
    return found

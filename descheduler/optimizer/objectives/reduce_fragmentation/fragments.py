"""Free capacity that pods of one class cannot use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from descheduler.optimizer.arrays import Floats, Ints

__all__ = ["stranded_for"]


def stranded_for(need: Ints, resource: int, free: Sequence[Floats]) -> Floats:
    """The part of `free[resource]` that is left when a node is filled with pods that take `need` (int64[R]).

    `free` has an array a resource, all of one shape, whose elements are nodes; so has what is returned.
    """
    slots = np.full(free[resource].shape, np.inf)
    for r in np.flatnonzero(need).tolist():
        np.minimum(slots, free[r] // float(need[r]), out=slots)
    stranded: Floats = free[resource] - slots * float(need[resource])
    return stranded

"""Swaps: every pod of one node against every pod of another at once."""

from __future__ import annotations

import numpy as np

from descheduler.planner.arrays import Floats, Ints
from descheduler.planner.objective import Guide
from descheduler.planner.placement import Placement

__all__ = ["swap_changes"]


def swap_changes(placement: Placement, guide: Guide, pods: Ints, others: Ints) -> Floats:
    """float64[k, m]: what the guide's sum changes by where two pods change places; infinity where they may not.

    All of `pods` (int64[k]) are on one node, and all of `others` (int64[m]) on another.
    """
    here, there = placement.at[pods[:1]], placement.at[others[:1]]
    usage = placement.usage
    shift = placement.need[:, others][:, None, :] - placement.need[:, pods][:, :, None]
    change = guide.node_cost(here, usage[:, here, None] + shift) + guide.node_cost(there, usage[:, there, None] - shift)
    change -= guide.node_cost(here, usage[:, here]) + guide.node_cost(there, usage[:, there])
    change += (guide.move_cost(pods, there) - guide.move_cost(pods, here))[:, None]
    change += guide.move_cost(others, here) - guide.move_cost(others, there)
    change[~placement.open_swaps(pods, others)] = np.inf
    return change

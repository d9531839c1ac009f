"""Swaps: every pod of one node against every pod of another at once."""

from __future__ import annotations

import numpy as np

from descheduler.planner.arrays import Floats, Ints
from descheduler.planner.limits import Budget
from descheduler.planner.objective import Guide
from descheduler.planner.placement import Placement

__all__ = ["swap_between"]

_LEAST_GAIN = 1e-6


def swap_between(placement: Placement, guide: Guide, first: int, second: int, budget: Budget) -> bool:
    """Makes the best swaps between two nodes while the guide's sum falls; whether there was any."""
    has_swapped = False
    while not budget.is_over and _swap_once(placement, guide, first, second, budget):
        has_swapped = True
    return has_swapped


def _swap_once(placement: Placement, guide: Guide, first: int, second: int, budget: Budget) -> bool:
    pods, others = placement.evictable_on(first), placement.evictable_on(second)
    if not len(pods) or not len(others):
        return False
    change = swap_changes(placement, guide, pods, others)
    budget.spend_evaluations(change.size * len(placement.usage))
    row, column = np.unravel_index(int(np.argmin(change)), change.shape)
    if change[row, column] >= -_LEAST_GAIN:
        return False
    return placement.try_swap(int(pods[row]), int(others[column]))


def swap_changes(placement: Placement, guide: Guide, pods: Ints, others: Ints) -> Floats:
    """float64[k, m]: what the guide's sum changes by where two pods change places; infinity where they may not."""
    here, there = placement.at[pods[:1]], placement.at[others[:1]]
    usage = placement.usage
    shift = placement.need[:, others][:, None, :] - placement.need[:, pods][:, :, None]
    change = guide.node_cost(here, usage[:, here, None] + shift) + guide.node_cost(there, usage[:, there, None] - shift)
    change -= guide.node_cost(here, usage[:, here]) + guide.node_cost(there, usage[:, there])
    change += (guide.move_cost(pods, there) - guide.move_cost(pods, here))[:, None]
    change += guide.move_cost(others, here) - guide.move_cost(others, there)
    change[~placement.open_swaps(pods, others)] = np.inf
    return change

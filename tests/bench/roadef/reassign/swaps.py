"""Swaps: every pod of one node against every pod of another at once."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Bools, Floats, Ints
from descheduler.optimizer.objective import Guide


def swap_changes(placement: Arrangement, guide: Guide, pods: Ints, others: Ints) -> Floats:
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
    change[~open_swaps(placement, pods, others)] = np.inf
    return change


def open_swaps(placement: Arrangement, pods: Ints, others: Ints) -> Bools:
    """bool[k, m]: whether each of `pods`, all on one node, may change places with each of `others`, all on another.

    Rules are asked of each move alone, so a swap may still be refused by a rule when it is made: see `try_swap`.
    """
    here, there = int(placement.at[pods[0]]), int(placement.at[others[0]])
    is_open: Bools = (
        placement.allowed_moves(pods, np.array([there])) & placement.allowed_moves(others, np.array([here])).T
    )
    for resource, free in enumerate(placement.free):
        need, back = placement.need[resource, pods][:, None], placement.need[resource, others]
        is_open &= need - back <= max(free[there], 0.0)
        is_open &= back - need <= max(free[here], 0.0)
    if placement.free_beside_moved is None:
        return is_open
    for resource in np.flatnonzero(placement.problem.both_ends).tolist():
        free = placement.free_beside_moved[resource]
        for node in (there, here):
            mine = _held(placement, pods, node, resource)[:, None]
            theirs = _held(placement, others, node, resource)
            change = mine - theirs if node == there else theirs - mine
            is_open &= change <= max(free[node], 0.0)
    return is_open


def _held(placement: Arrangement, pods: Ints, node: int, resource: int) -> Floats:
    """float64[k]: what each pod takes on the node of what is held at both ends, beside what it holds there already."""
    origins = placement.origins[pods]
    held: Floats = np.where((origins == node) | (origins == PENDING), 0.0, placement.need[resource, pods])
    return held


def try_swap(placement: Arrangement, pod: int, other: int) -> bool:
    """Swaps two pods that `open_swaps` allows, unless the rules refuse the second move after the first."""
    here, there = int(placement.at[pod]), int(placement.at[other])
    placement.move(pod, there)
    if placement.allowed_moves(np.array([other]), np.array([here]))[0, 0]:
        placement.move(other, here)
        return True
    placement.move(pod, here)
    return False

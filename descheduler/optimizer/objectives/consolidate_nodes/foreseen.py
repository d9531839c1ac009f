"""What several drains would lead to, each by itself, in one pass over arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from descheduler.optimizer.arrays import Bools, Floats, Ints
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains
from descheduler.optimizer.objectives.consolidate_nodes.most_allocated import MostAllocated
from descheduler.optimizer.placement import Placement

__all__ = ["Foreseen", "foresee"]


class Foreseen:
    """Of each of B drains, by itself.

    is_made:      bool[B], whether it can be made; the rest says something only of those that can.
    free:         float64[B, R, N], what nodes have left then.
    has_received: bool[B, N], nodes that one of its pods goes to.
    """

    def __init__(self, free: Floats, num_nodes: int) -> None:
        self.free = free
        self.is_made: Bools = np.ones(len(free), bool)
        self.has_received: Bools = np.zeros((len(free), num_nodes), bool)


def foresee(
    drains: Drains, placement: Placement, scheduler: MostAllocated, is_empty: Bools, asked: Sequence[tuple[int, Ints]]
) -> Foreseen:
    """What becomes of draining each of `asked`: a node, and its pods (int64[p]) in the order in which they leave.

    `is_empty`, bool[N], are nodes that nothing may be scheduled onto. Each step takes one pod of every drain. That pods
    of one node may keep each other from a node is not looked at.
    """
    num_nodes, rows = placement.problem.num_nodes, np.arange(len(asked))
    longest = max(len(pods) for _, pods in asked)
    nodes = np.array([node for node, _ in asked])
    need = np.zeros((longest, len(asked), len(placement.need)))
    is_open = np.zeros((longest, len(asked), num_nodes), bool)
    for row, (node, pods) in enumerate(asked):
        need[: len(pods), row] = placement.need[:, pods].T
        is_open[: len(pods), row] = placement.allowed_moves(pods, np.arange(num_nodes))
        is_open[:, row, node] = True
    found = Foreseen(np.repeat(placement.free[None], len(asked), axis=0), num_nodes)
    length = np.array([len(pods) for _, pods in asked])
    for step in range(longest):
        leaves = step < length
        wanted = need[step]
        found.free[rows, :, nodes] += wanted
        fits = is_open[step] & (wanted[:, :, None] <= np.maximum(found.free, 0.0)).all(axis=1)
        target = np.argmax(np.where(fits, scheduler.scores(found.free, wanted), -1.0), axis=1)
        left = np.maximum(found.free[rows, :, target] + drains.above_free[:, target].T, 0.0)
        is_good = (target != nodes) & ~is_empty[target] & (wanted <= left).all(axis=1)
        found.is_made &= is_good | ~leaves
        found.free[rows, :, target] -= wanted
        found.has_received[rows[leaves], target[leaves]] = True
    return found

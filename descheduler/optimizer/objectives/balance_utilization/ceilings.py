"""Which nodes are over their ceiling, and the cheapest pods to take from each."""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np

from descheduler.optimizer.arrays import PENDING, Bools, Floats, Ints
from descheduler.optimizer.objectives.balance_utilization.cover import Cover, smallest_cover
from descheduler.optimizer.placement import Placement
from descheduler.optimizer.problem import Problem

__all__ = ["Ceilings"]


class Ceilings:
    """The ceilings of one problem. Resources come first in the arrays.

    `ceiling` is float64[R, N], `scale` one over the capacity, `was_hot` bool[N]: over the ceiling before the plan.
    `num_evictable` is int64[N], the evictable pods of each node before the plan.
    `covers` holds the cheapest cover of each hot node, in the problem's pods, or None where all pods do not suffice.
    """

    def __init__(self, problem: Problem, ceiling: Ints) -> None:
        self.problem = problem
        self._whole_ceiling = ceiling
        self.ceiling: Floats = np.ascontiguousarray(ceiling.T, dtype=np.float64)
        self.scale: Floats = 1.0 / np.maximum(problem.capacity.T.astype(np.float64), 1.0)
        usage = problem.usage(problem.assignment)
        self.was_hot: Bools = np.asarray((usage > ceiling).any(axis=1))
        self.hot: Ints = np.flatnonzero(self.was_hot)
        placed = problem.assignment[problem.evictable & (problem.assignment != PENDING)]
        self.num_evictable: Ints = np.bincount(placed, minlength=problem.num_nodes)
        self.covers = {node: self._cover(node, usage[node]) for node in self.hot.tolist()}

    def _cover(self, node: int, usage: Ints) -> Cover | None:
        problem = self.problem
        excess = usage - self.ceiling[:, node]
        over = excess > 0
        pods = np.flatnonzero((problem.assignment == node) & problem.evictable)
        cover = smallest_cover(excess[over], problem.need[pods][:, over].astype(np.float64), problem.cost[pods])
        return cover and Cover(tuple(pods[list(cover.chosen)].tolist()), cover.cost, cover.bound)

    @cached_property
    def fewest(self) -> dict[int, tuple[int, ...]]:
        """The fewest pods that relieve each hot node that can be, whatever they cost."""
        if (self.problem.cost == self.problem.cost[:1]).all():
            return {node: cover.chosen for node, cover in self.covers.items() if cover is not None}
        equal = Ceilings(dataclasses.replace(self.problem, cost=np.ones_like(self.problem.cost)), self._whole_ceiling)
        return {node: cover.chosen for node, cover in equal.covers.items() if cover is not None}

    def is_over(self, placement: Placement) -> Bools:
        """bool[N]."""
        over: Bools = np.asarray((placement.usage > self.ceiling).any(axis=0))
        return over

    def slack(self, placement: Placement, nodes: Ints) -> Floats:
        """float64[n]: the room under the ceilings as shares of each node, summed over resources; at most 1 for each."""
        room = (self.ceiling[:, nodes] - placement.usage[:, nodes]) * self.scale[:, nodes]
        slack: Floats = np.minimum(room, 1.0).sum(axis=0)
        return slack

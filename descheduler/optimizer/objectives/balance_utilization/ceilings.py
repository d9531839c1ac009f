"""Which nodes are over their ceiling, and the cheapest pods to take from each."""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Bools, Floats, Ints
from descheduler.optimizer.leaving import can_leave
from descheduler.optimizer.objectives.balance_utilization.cover import Cover, smallest_cover
from descheduler.optimizer.problem import Problem


class Ceilings:
    """The ceilings of one problem. Resources come first in the arrays.

    `ceiling` is float64[R, N], `scale` one over the capacity, `was_hot` bool[N]: over the ceiling before the plan.
    `whole_ceiling` is the ceiling as it was given, int64[N, R], `usage` that before the plan, of the same shape, and
    `room` what is used at most of a node that pods come to.
    `leaves` is bool[P], the pods that can leave, and `num_leaving` int64[N], how many of each node can.
    `covers` holds the cheapest cover of each hot node, in the problem's pods, or None where all that can leave do not
    suffice.
    """

    def __init__(self, problem: Problem, ceiling: Ints) -> None:
        self.problem = problem
        self.whole_ceiling = ceiling
        self.ceiling: Floats = np.ascontiguousarray(ceiling.T, dtype=np.float64)
        self.scale: Floats = 1.0 / np.maximum(problem.capacity.T.astype(np.float64), 1.0)
        self.usage: Ints = problem.usage(problem.assignment)
        self.was_hot: Bools = np.asarray((self.usage > ceiling).any(axis=1))
        self.hot: Ints = np.flatnonzero(self.was_hot)
        self.room: Ints = np.minimum(ceiling, problem.capacity)
        self.leaves: Bools = can_leave(dataclasses.replace(problem, capacity=self.room))
        self.num_leaving: Ints = np.bincount(problem.assignment[self.leaves], minlength=problem.num_nodes)
        self.covers = {node: self._cover(node) for node in self.hot.tolist()}

    def _cover(self, node: int) -> Cover | None:
        problem = self.problem
        excess = self.usage[node] - self.ceiling[:, node]
        over = excess > 0
        pods = np.flatnonzero((problem.assignment == node) & self.leaves)
        cover = smallest_cover(excess[over], problem.need[pods][:, over].astype(np.float64), problem.cost[pods])
        return cover and Cover(tuple(pods[list(cover.chosen)].tolist()), cover.cost, cover.bound)

    @cached_property
    def fewest(self) -> dict[int, tuple[int, ...]]:
        """The fewest pods that relieve each hot node that can be, whatever they cost."""
        return {node: cover.chosen for node, cover in self._by_count.items()}

    @cached_property
    def _by_count(self) -> dict[int, Cover]:
        """The covers of the fewest pods; what they cost is how many they are."""
        ceilings = self
        if (self.problem.cost != 1).any():
            equal = dataclasses.replace(self.problem, cost=np.ones_like(self.problem.cost))
            ceilings = Ceilings(equal, self.whole_ceiling)
        return {node: cover for node, cover in ceilings.covers.items() if cover is not None}

    @property
    def least_counts(self) -> dict[int, int]:
        """How many pods have to leave each hot node at least that can be relieved."""
        return {node: cover.bound for node, cover in self._by_count.items()}

    def is_over(self, placement: Arrangement) -> Bools:
        """bool[N]."""
        over: Bools = np.asarray((placement.usage > self.ceiling).any(axis=0))
        return over

    def slack(self, placement: Arrangement, nodes: Ints) -> Floats:
        """float64[n]: the room under the ceilings as shares of each node, summed over resources; at most 1 for each."""
        room = (self.ceiling[:, nodes] - placement.usage[:, nodes]) * self.scale[:, nodes]
        slack: Floats = np.minimum(room, 1.0).sum(axis=0)
        return slack

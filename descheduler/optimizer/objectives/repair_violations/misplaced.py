"""The pods of a problem that have to leave their node, and those of them that some other node could take."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.problem import Problem

__all__ = ["MisplacedPods"]


class MisplacedPods:
    """`pods`: int64[M], with a weight and a node. `movable`: int64[M'], those that may leave and that fit elsewhere."""

    def __init__(self, problem: Problem, weight: Ints) -> None:
        self.problem, self.weight = problem, weight
        self.pods: Ints = np.flatnonzero((weight > 0) & (problem.assignment != PENDING))
        self.movable: Ints = np.array([pod for pod in self.pods.tolist() if self._is_movable(pod)], np.int64)

    def _is_movable(self, pod: int) -> bool:
        if not self.problem.evictable[pod]:
            return False
        fits = (self.problem.need[pod] <= self.problem.capacity).all(axis=1)
        fits &= self.problem.allowed[self.problem.pod_class[pod]]
        fits[self.problem.assignment[pod]] = False
        return bool(fits.any())

    def left(self, assignment: Ints) -> Ints:
        """Those that are on their node all the same."""
        stays = assignment[self.pods] == self.problem.assignment[self.pods]
        return np.asarray(self.pods[stays])

    def in_order(self, assignment: Ints) -> list[int]:
        """The movable ones that are on their node, by weight and then by size, what is small first."""
        waiting = np.intersect1d(self.movable, self.left(assignment), assume_unique=True)
        scale = 1.0 / np.maximum(self.problem.capacity.sum(axis=0).astype(np.float64), 1.0)
        size = (self.problem.need[waiting] * scale).max(axis=1, initial=0.0)
        order = np.lexsort((waiting, size, -self.weight[waiting]))
        return [int(pod) for pod in waiting[order]]

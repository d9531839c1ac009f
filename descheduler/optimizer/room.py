"""What is left on each node as pods come and go, whether nodes have capacity of their own or share parts."""

from __future__ import annotations

import copy

import numpy as np

from descheduler.optimizer.arrays import Floats
from descheduler.optimizer.problem import Problem

__all__ = ["Room"]


class Room:
    """`usage` is float64[R, C], what pods need on each part, `free` float64[R, N], what each node has left for a pod.

    Without parts each node is its own part. Both are kept in place; change them by `take` alone.
    """

    def __init__(self, problem: Problem, usage: Floats) -> None:
        self.usage = usage
        self._left: Floats = problem.part_capacity.T - usage
        self._parts = problem.parts
        self.free: Floats = self._left
        if problem.parts is not None:
            # Nodes with fewer parts than others have the last column for the rest, which is never scarce.
            self._left = np.hstack((self._left, np.full((len(usage), 1), np.inf)))
            self.free = self._left[:, problem.parts.taken].min(axis=2)

    def take(self, node: int, need: Floats) -> None:
        """A pod of that need comes to `node`; a negative need leaves it."""
        if self._parts is None:
            self.usage[:, node] += need
            self.free[:, node] -= need
            return
        parts = self._parts.of(node)
        self.usage[:, parts] += need[:, None]
        self._left[:, parts] -= need[:, None]
        near = self._parts.nodes_of[int(self._parts.machine[node])]
        self.free[:, near] = self._left[:, self._parts.taken[near]].min(axis=2)

    def copy(self) -> Room:
        """The same room, which changes by itself from now on."""
        other = copy.copy(self)
        other.usage, other._left = self.usage.copy(), self._left.copy()
        other.free = other._left if self._parts is None else self.free.copy()
        return other

"""The pending pods of a problem, single or in gangs."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.problem import Problem


class SizeOrder(IntEnum):
    """In which order pods of equal weight are placed."""

    SMALLEST_FIRST = 1
    LARGEST_FIRST = -1
    AS_GIVEN = 0


class PendingUnits:
    """`pods`: int64[Q], pending before the plan. `units`: each single pod and each gang, as arrays of pods."""

    def __init__(self, problem: Problem, weight: Ints, gang: Ints) -> None:
        self.problem, self.weight, self.gang = problem, weight, gang
        self.pods: Ints = np.flatnonzero(problem.assignment == PENDING)
        gangs = np.unique(gang[self.pods])
        self.units: list[Ints] = [np.array([pod]) for pod in self.pods[gang[self.pods] < 0]]
        self.units += [self.pods[gang[self.pods] == number] for number in gangs[gangs >= 0]]
        self._kind = _kinds(problem, self.pods)
        self._scale = 1.0 / np.maximum(problem.capacity.sum(axis=0).astype(np.float64), 1.0)

    def left(self, assignment: Ints) -> Ints:
        """The pods that are pending, and those of gangs of which one is."""
        waiting = self.pods[assignment[self.pods] == PENDING]
        gangs = self.gang[waiting]
        return self.pods[np.isin(self.pods, waiting) | np.isin(self.gang[self.pods], gangs[gangs >= 0])]

    def place_greedily(
        self, placement: Arrangement, place: Callable[[Arrangement, int], bool], order: SizeOrder
    ) -> None:
        """Places units whole by `place`, by weight and then in `order`.

        `place` leaves no trace of what it cannot place: it is not asked again for the same until something has changed.
        """
        hopeless = set[int]()
        size = [float((self.problem.need[unit] * self._scale).max(axis=1).sum()) for unit in self.units]
        weight = [int(self.weight[unit].sum()) for unit in self.units]
        for number in sorted(range(len(self.units)), key=lambda unit: (-weight[unit], order * size[unit], unit)):
            unit = self.units[number]
            waiting = unit[placement.at[unit] == PENDING]
            for pod in waiting.tolist():
                kind = self._kind[pod]
                if kind not in hopeless and place(placement, pod):
                    hopeless.clear()
                    continue
                if len(waiting) == 1:
                    hopeless.add(kind)
                else:
                    self._withdraw(placement, waiting)
                    hopeless.clear()
                break

    def withdraw_parts(self, placement: Arrangement) -> None:
        """Takes the pods of gangs that are placed in part off their nodes."""
        for unit in self.units:
            if (placement.at[unit] == PENDING).any():
                self._withdraw(placement, unit)

    @staticmethod
    def _withdraw(placement: Arrangement, pods: Ints) -> None:
        for pod in pods[placement.at[pods] != PENDING].tolist():
            placement.move(pod, PENDING)


def _kinds(problem: Problem, pods: Ints) -> dict[int, int]:
    """Which of `pods` are alike: one fits where the other does."""
    groups = [rule.group[pods] for rule in problem.rules]
    look = np.column_stack((problem.need[pods], problem.pod_class[pods], *groups))
    _, kind = np.unique(look, axis=0, return_inverse=True)
    return dict(zip(pods.tolist(), kind.ravel().tolist(), strict=True))

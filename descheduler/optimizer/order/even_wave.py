"""Which moves of pods that are spread evenly may run together: those that keep the spread in every order."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.rules import MaxSkew

__all__ = ["EvenWave"]


class EvenWave:
    """One rule during one wave after the other; pods are at `assignment` (int64[P]) before the first.

    A domain that pods arrive in has the most of them before any has left it, and the emptiest one has the fewest before
    any arrives. Whether a single move keeps the rule is not looked at.
    """

    def __init__(self, rule: MaxSkew, assignment: Ints) -> None:
        self._rule = rule
        self._before = np.zeros(rule.there.shape, np.int64)
        domain = rule.domain[assignment]
        counted = (assignment != PENDING) & (rule.group >= 0) & (domain >= 0)
        np.add.at(self._before, (rule.group[counted], domain[counted]), 1)
        self._arriving, self._leaving = np.zeros_like(self._before), np.zeros_like(self._before)
        self._moving = set[int]()

    def begin(self) -> None:
        """The wave is done, and another begins."""
        for group in self._moving:
            self._before[group] += self._arriving[group] - self._leaving[group]
            self._arriving[group] = self._leaving[group] = 0
        self._moving.clear()

    def may_start(self, pod: int, source: int, target: int) -> bool:
        """Whether the pod may go to `target` in this wave beside those of its group that move already."""
        group = int(self._rule.group[pod])
        if group not in self._moving:
            return True
        arriving, leaving = self._arriving[group].copy(), self._leaving[group].copy()
        self._count(arriving, target)
        self._count(leaving, source)
        there = self._rule.there[group]
        least = int((self._before[group] - leaving)[there].min()) if there.any() else 0
        most = (self._before[group] + arriving)[arriving > 0]
        return bool((most - least <= self._rule.skew[group]).all())

    def start(self, pod: int, source: int, target: int) -> None:
        """Takes note of a move of this wave."""
        group = int(self._rule.group[pod])
        if group >= 0:
            self._moving.add(group)
            self._count(self._arriving[group], target)
            self._count(self._leaving[group], source)

    def _count(self, counts: Ints, node: int) -> None:
        if node != PENDING and self._rule.domain[node] >= 0:
            counts[self._rule.domain[node]] += 1

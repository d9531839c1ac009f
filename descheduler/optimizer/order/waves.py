"""Moves that run together: both ends hold every pod of a wave until all of its moves are done."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.rules import AtMost, MaxSkew, MoveLimit


@dataclass(frozen=True, slots=True)
class Reassignment:
    """Pod `pod` goes from `source` (-1: it was pending) to `target`."""

    pod: int
    source: int
    target: int


class WaveState:
    """The cluster of a problem after the moves so far, of which the last wave is still under way.

    A move can start when its target has room for the pod beside all that is there now and all that arrives in the same
    wave; what leaves in that wave still counts. Rules hold during the wave, each pod counted in both domains, and the
    spread of pods in whatever order the moves end.
    `placement` is where pods are going; change it by `start` alone.
    """

    def __init__(self, problem: Problem) -> None:
        # Limits count what a plan moves, not how often, and the plan was made within them.
        rules = tuple(rule for rule in problem.rules if not isinstance(rule, MoveLimit))
        self.placement = Arrangement(dataclasses.replace(problem, rules=rules))
        self._spreads = [rule for rule in rules if isinstance(rule, AtMost)]
        self._even = [_EvenWave(rule, problem.assignment) for rule in rules if isinstance(rule, MaxSkew)]
        self.begin()

    def begin(self) -> None:
        """The wave is done, and another begins."""
        self._room = self.placement.room_while_moving()
        self._left: set[tuple[int, int, int]] = set()
        for even in self._even:
            even.begin()

    def can_start(self, pod: int, target: int) -> bool:
        """Whether the move can be made in this wave."""
        if not self.placement.is_open(pod, target):
            return False
        need = self.placement.need[:, pod]
        if (need > np.maximum(self._room.free[:, target], 0.0)).any():
            return False
        source = int(self.placement.at[pod])
        return self._left.isdisjoint(self._keys(pod, target)) and all(
            even.may_start(pod, source, target) for even in self._even
        )

    def start(self, pod: int, target: int) -> Reassignment:
        """Makes the move in this wave, without asking whether it can."""
        source = int(self.placement.at[pod])
        if source != PENDING:
            self._left.update(set(self._keys(pod, source)) - set(self._keys(pod, target)))
        for even in self._even:
            even.start(pod, source, target)
        self.placement.move(pod, target)
        self._room.take(target, self.placement.need[:, pod])
        return Reassignment(pod, source, target)

    def _keys(self, pod: int, node: int) -> list[tuple[int, int, int]]:
        """(rule, group, domain) for each limit a domain that counts the pod on that node."""
        return [
            (index, int(rule.group[pod]), int(rule.domain[node]))
            for index, rule in enumerate(self._spreads)
            if rule.group[pod] >= 0 and rule.domain[node] >= 0
        ]


class _EvenWave:
    """One rule of pods that are spread evenly, during one wave after the other.

    Pods are at `assignment` (int64[P]) before the first.

    A domain that pods arrive in has the most of them before any has left it, and the emptiest one has the fewest before
    any arrives. Whether a single move keeps the rule is not looked at.
    """

    def __init__(self, rule: MaxSkew, assignment: Ints) -> None:
        self._rule = rule
        self._before = rule.count(assignment)
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

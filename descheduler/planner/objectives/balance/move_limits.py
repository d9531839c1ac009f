"""How many nodes limits on moves let be relieved."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from descheduler.planner.arrays import PENDING, Ints
from descheduler.planner.problem import Problem
from descheduler.planner.rules import MoveLimit

__all__ = ["MovesLeft", "most_relieved"]


class MovesLeft:
    """What the limits of a problem leave when `moved` pods have been moved."""

    def __init__(self, problem: Problem, moved: Ints) -> None:
        self._rules = _limits(problem)
        self._left = [rule.limit - _count(rule, moved) for rule in self._rules]

    def take(self, pods: Ints) -> bool:
        """Whether all of `pods` may be moved too, which counts them then."""
        asked = [_count(rule, pods) for rule in self._rules]
        if any((count > left)[count > 0].any() for count, left in zip(asked, self._left, strict=True)):
            return False
        for count, left in zip(asked, self._left, strict=True):
            left -= count
        return True


def most_relieved(problem: Problem, fewest: Mapping[int, int]) -> int:
    """How many nodes can be relieved at most, of which each needs `fewest` of its pods to leave."""
    movable = np.flatnonzero(problem.evictable & (problem.assignment != PENDING))
    most = len(fewest)
    for rule in _limits(problem):
        on = {node: movable[problem.assignment[movable] == node] for node in fewest}
        able = sorted(number for node, number in fewest.items() if number <= _most(rule, on[node]))
        most = min(most, int((np.cumsum(able) <= _most(rule, movable)).sum()))
    return most


def _limits(problem: Problem) -> list[MoveLimit]:
    return [rule for rule in problem.rules if isinstance(rule, MoveLimit)]


def _most(rule: MoveLimit, pods: Ints) -> int:
    """How many of `pods` the rule lets be moved."""
    counted = np.minimum(_count(rule, pods), np.maximum(rule.limit, 0)).sum()
    return int(counted) + int((rule.group[pods] < 0).sum())


def _count(rule: MoveLimit, pods: Ints) -> Ints:
    """int64[G]: how many of `pods` are of each group."""
    group = rule.group[pods]
    return np.bincount(group[group >= 0], minlength=len(rule.limit)).astype(np.int64)

"""What the limits on moves of a problem leave once some pods have been moved."""

from __future__ import annotations

import numpy as np

from descheduler.planner.arrays import Ints
from descheduler.planner.problem import Problem
from descheduler.planner.rules import MoveLimit

__all__ = ["MovesLeft", "count_by_group", "limits_on_moves"]


class MovesLeft:
    """What the limits of a problem leave when `moved` pods have been moved."""

    def __init__(self, problem: Problem, moved: Ints) -> None:
        self._rules = limits_on_moves(problem)
        self._left = [rule.limit - count_by_group(rule, moved) for rule in self._rules]

    def take(self, pods: Ints) -> bool:
        """Whether all of `pods` may be moved too, which counts them then."""
        asked = [count_by_group(rule, pods) for rule in self._rules]
        if any((count > left)[count > 0].any() for count, left in zip(asked, self._left, strict=True)):
            return False
        for count, left in zip(asked, self._left, strict=True):
            left -= count
        return True


def limits_on_moves(problem: Problem) -> list[MoveLimit]:
    """The limits among its rules."""
    return [rule for rule in problem.rules if isinstance(rule, MoveLimit)]


def count_by_group(rule: MoveLimit, pods: Ints) -> Ints:
    """int64[G]: how many of `pods` are of each group."""
    group = rule.group[pods]
    return np.bincount(group[group >= 0], minlength=len(rule.limit)).astype(np.int64)

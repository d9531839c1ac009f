"""How many nodes limits on moves let be relieved."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.rules import MoveLimit

__all__ = ["most_relieved"]


def most_relieved(problem: Problem, fewest: Mapping[int, int]) -> int:
    """How many nodes can be relieved at most, of which each needs `fewest` of its pods to leave."""
    movable = np.flatnonzero(problem.evictable & (problem.assignment != PENDING))
    most = len(fewest)
    for rule in problem.move_limits:
        on = {node: movable[problem.assignment[movable] == node] for node in fewest}
        able = sorted(number for node, number in fewest.items() if number <= _most(rule, on[node]))
        most = min(most, int((np.cumsum(able) <= _most(rule, movable)).sum()))
    return most


def _most(rule: MoveLimit, pods: Ints) -> int:
    """How many of `pods` the rule lets be moved."""
    counted = np.minimum(rule.count(pods), np.maximum(rule.limit, 0)).sum()
    return int(counted) + int((rule.group[pods] < 0).sum())

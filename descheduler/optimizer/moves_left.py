"""What the limits on moves of a problem leave once some pods have been moved."""

from __future__ import annotations

from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.problem import Problem


class MovesLeft:
    """What the limits of a problem leave when `moved` pods (int64[k]) have been moved, and more are taken one by one.

    Unlike `rule_counts`, it needs no placement: pods can be counted that are not moved after all.
    """

    def __init__(self, problem: Problem, moved: Ints) -> None:
        self._rules = problem.move_limits
        self._left = [rule.limit - rule.count(moved) for rule in self._rules]

    def take(self, pods: Ints) -> bool:
        """Whether all of `pods` may be moved too, which counts them then."""
        asked = [rule.count(pods) for rule in self._rules]
        if any((count > left)[count > 0].any() for count, left in zip(asked, self._left, strict=True)):
            return False
        for count, left in zip(asked, self._left, strict=True):
            left -= count
        return True

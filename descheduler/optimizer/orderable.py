"""Assignments to which some order of moves leads, where none leads to the best that was found."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.limits import Limits
from descheduler.optimizer.objective import Value
from descheduler.optimizer.order.ordering import Ordered, order_moves
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.rules import MoveLimit


@dataclasses.dataclass(frozen=True)
class OrderableSearch:
    """What it takes to search `problem` again.

    on_the_way:      what is left of the problem, with what moves have to keep one by one.
    search:          the best assignments to a problem within limits, all of one value, beginning with a hint.
    search_in_order: the best assignment to which an order of moves leads, beginning with one to which one does; None
                     where the problem is not small.
    value:           how good an assignment is.
    ordered_by_itself: the objective's own order of moves to an assignment, or to one like it; None for none.
    """

    problem: Problem
    on_the_way: Callable[[Problem], Problem]
    search: Callable[[Problem, Limits, Ints | None], Sequence[Ints]]
    search_in_order: Callable[[Ints], Ints | None]
    value: Callable[[Ints], Value]
    ordered_by_itself: Callable[[Problem, Ints], Ordered | None] = lambda problem, assignment: None

    def best(self, assignments: Sequence[Ints], limits: Limits) -> Ordered:
        """The best plan found, beginning with those of the moves to `assignments` that can be made.

        Where some are blocked, two more are searched within `limits` each, and a third one of a small problem.
        """
        way = self.on_the_way(self.problem)
        ordered = self._ordered(way, assignments)
        if not ordered.blocked:
            return ordered
        best = min(ordered, *self._careful(ordered, limits), key=self._value)
        in_order = self.search_in_order(best.assignment)
        return best if in_order is None else min(best, self._order_to(way, in_order), key=self._value)

    def _order_to(self, way: Problem, assignment: Ints) -> Ordered:
        """The objective's own order where that is no worse than the assignment or any other order that is found."""
        own = self.ordered_by_itself(way, assignment)
        if own is None:
            return order_moves(way, assignment)
        is_as_good = self._value(own) <= self.value(assignment)
        return own if is_as_good else min(own, order_moves(way, assignment), key=self._value)

    def _value(self, ordered: Ordered) -> Value:
        return self.value(ordered.assignment)

    def _ordered(self, way: Problem, assignments: Sequence[Ints]) -> Ordered:
        """The plan of the first of `assignments` to which an order leads; else the best of what is not blocked."""
        found = list[Ordered]()
        for assignment in assignments:
            found.append(self._order_to(way, assignment))
            if not found[-1].blocked:
                return found[-1]
        return min(found, key=self._value)

    def _careful(self, ordered: Ordered, limits: Limits) -> Iterator[Ordered]:
        """Two plans: the one holds all resources at both ends, so that it can be carried out in any order.

        The other is on top of what is not blocked, unless the problem itself holds resources at both ends: the moves
        made first would give them back.
        """
        problem = self.problem
        careful = dataclasses.replace(problem, both_ends=np.ones_like(problem.both_ends))
        yield self._ordered(self.on_the_way(problem), self.search(careful, limits, ordered.assignment))
        if not problem.both_ends.any():
            after = _problem_after(problem, ordered.assignment)
            yield ordered.then(self._ordered(self.on_the_way(after), self.search(after, limits, None)))


def _problem_after(problem: Problem, reached: Ints) -> Problem:
    """What is left to plan once the moves to `reached` are made, which stand: no pod is moved a second time."""
    moved = problem.moved(reached)
    return dataclasses.replace(
        problem,
        assignment=reached,
        evictable=problem.evictable & (reached == problem.assignment),
        rules=tuple(_left_of(rule, moved) if isinstance(rule, MoveLimit) else rule for rule in problem.rules),
    )


def _left_of(rule: MoveLimit, moved: Ints) -> MoveLimit:
    """What the pods `moved` leave of the limit."""
    return dataclasses.replace(rule, limit=rule.limit - rule.count(moved))

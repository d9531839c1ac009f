"""The order in which a plan is carried out: waves in which both ends hold every pod that moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.order.waves import Reassignment, WaveState
from descheduler.optimizer.problem import Problem

_MOST_ORDERS, _MOST_STARTED = 40, 2000
"""Where some moves are blocked in the order of the pods, in so many orders they are tried, and so many are in these."""


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """Waves of moves that run together.

    `assignment`, int64[P], is where they lead. Pods that no order brings to where they were to go are `blocked`.
    """

    waves: tuple[tuple[Reassignment, ...], ...]
    blocked: tuple[int, ...]
    assignment: Ints

    def then(self, later: Ordered) -> Ordered:
        """These waves and those of `later`, which begin where these lead."""
        return Ordered((*self.waves, *later.waves), later.blocked, later.assignment)


def order_moves(problem: Problem, assignment: Ints) -> Ordered:
    """The waves that lead from the problem's assignment to `assignment`, as few as a greedy order finds.

    Moves that are in each other's way are left out; they are tried in several orders, as one that starts early may take
    the room that a circle of others needs. Pending pods go to their nodes as soon as they fit, or after all others
    where that blocks fewer moves.
    """
    pods = np.arange(problem.num_pods)
    best = _order(problem, assignment, pods)
    if not any(problem.assignment[pod] != PENDING for pod in best.blocked):
        return best
    is_pending = problem.assignment == PENDING
    best = min(best, _order(problem, assignment, pods[~is_pending], pods), key=lambda each: len(each.blocked))
    moving = np.flatnonzero(assignment != problem.assignment)
    rng = np.random.default_rng(len(moving))
    for _ in range(min(_MOST_ORDERS, _MOST_STARTED // len(moving))):
        if not best.blocked:
            break
        changed = _changed(moving, best.blocked, rng)
        found = _order(problem, assignment, changed)
        if len(found.blocked) <= len(best.blocked):
            best, moving = found, changed
    return best


def _changed(order: Ints, blocked: Sequence[int], rng: np.random.Generator) -> Ints:
    """`order` with one of the pods that are `blocked` in it in front, and another one anywhere."""
    pods = order.tolist()
    for pod, most in ((int(rng.choice(order)), len(pods)), (int(rng.choice(blocked)), 1)):
        pods.remove(pod)
        pods.insert(int(rng.integers(most)), pod)
    return np.array(pods, dtype=np.int64)


def _order(problem: Problem, assignment: Ints, *parts: Ints) -> Ordered:
    """The waves where the pods of each part start in its order, as far as they can, after those of the part before."""
    ordering = _Ordering(problem, assignment)
    waiting = [ordering.run(pods) for pods in parts]
    return Ordered(tuple(ordering.waves), tuple(waiting[-1]), ordering.assignment)


class _Ordering:
    """`waves` of moves towards `target`, which lead to `assignment`."""

    def __init__(self, problem: Problem, target: Ints) -> None:
        self._state = WaveState(problem)
        self._target = target
        self.waves: list[tuple[Reassignment, ...]] = []

    @property
    def assignment(self) -> Ints:
        """int64[P], where the pods are after all waves."""
        return self._state.placement.at

    def run(self, pods: Ints) -> Sequence[int]:
        """Goes on with those of the pods that are not where they are to go; those that are not at the end."""
        waiting: list[int] = pods[self._target[pods] != self.assignment[pods]].tolist()
        while waiting and self._wave(waiting):
            waiting = [pod for pod in waiting if self.assignment[pod] != self._target[pod]]
        return waiting

    def _wave(self, waiting: Sequence[int]) -> bool:
        """Starts every move of `waiting` that can, in that order; whether there was one."""
        self._state.begin()
        wave: list[Reassignment] = []
        for pod in waiting:
            target = int(self._target[pod])
            if self._state.can_start(pod, target):
                wave.append(self._state.start(pod, target))
        if wave:
            self.waves.append(tuple(wave))
        return bool(wave)

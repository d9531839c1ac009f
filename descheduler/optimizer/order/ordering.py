"""The order in which a plan is carried out: waves in which both ends hold every pod that moves.

Moves that wait for each other in a circle are opened by a bounce: one of the pods waits on a third node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.order.waves import Reassignment, WaveState
from descheduler.optimizer.problem import Problem

__all__ = ["Ordered", "order_moves"]

_MOST_ORDERS, _MOST_STARTED = 40, 2000
"""Where some moves are blocked in the order of the pods, in so many orders they are tried, and so many are in these."""


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """Waves of moves that run together, and how many of these are bounces.

    `assignment`, int64[P], is where they lead. Pods that no order brings to where they were to go are `blocked`.
    """

    waves: tuple[tuple[Reassignment, ...], ...]
    num_bounces: int
    blocked: tuple[int, ...]
    assignment: Ints

    def then(self, later: Ordered) -> Ordered:
        """These waves and those of `later`, which begin where these lead."""
        waves = (*self.waves, *later.waves)
        return Ordered(waves, self.num_bounces + later.num_bounces, later.blocked, later.assignment)


def order_moves(
    problem: Problem, assignment: Ints, *, max_per_wave: int | None = None, may_bounce: bool = True
) -> Ordered:
    """The waves that lead from the problem's assignment to `assignment`, as few as a greedy order finds.

    Moves that are in each other's way are left out; they are tried in several orders, as one that starts early may take
    the room that a circle of others needs. `may_bounce` says whether a pod may be moved twice. Pending pods go to
    their nodes as soon as they fit, or after all others where a bounce needs the room that they take.
    """
    order = partial(_order, problem, assignment, max_per_wave or problem.num_pods, may_bounce=may_bounce)
    pods = np.arange(problem.num_pods)
    best = order(pods, pending_last=False)
    if not any(problem.assignment[pod] != PENDING for pod in best.blocked):
        return best
    best = min(best, order(pods, pending_last=True), key=lambda each: len(each.blocked))
    moving = np.flatnonzero(assignment != problem.assignment)
    rng = np.random.default_rng(len(moving))
    for _ in range(min(_MOST_ORDERS, _MOST_STARTED // len(moving))):
        if not best.blocked:
            break
        changed = _changed(moving, best.blocked, rng)
        found = order(changed, pending_last=False)
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


def _order(
    problem: Problem, assignment: Ints, max_per_wave: int, pods: Ints, *, may_bounce: bool, pending_last: bool
) -> Ordered:
    """The waves where `pods` start in that order, as far as they can."""
    ordering = _Ordering(problem, assignment, max_per_wave)
    if pending_last:
        ordering.run(pods[problem.assignment[pods] != PENDING], may_bounce=may_bounce)
    return ordering.run(pods, may_bounce=may_bounce)


class _Ordering:
    """Wave by wave towards `target`."""

    def __init__(self, problem: Problem, target: Ints, max_per_wave: int) -> None:
        self._waves = WaveState(problem)
        self._placement = self._waves.placement
        self._target = target
        self._max_per_wave = max_per_wave
        self._found: list[tuple[Reassignment, ...]] = []
        self._num_bounces = 0
        self._has_bounced: set[int] = set()

    def run(self, pods: Ints, *, may_bounce: bool) -> Ordered:
        """Goes on with those of the pods that are not where they are to go; all that was ordered until then."""
        waiting = pods[self._target[pods] != self._placement.at[pods]].tolist()
        while waiting and (self._wave(waiting) or (may_bounce and self._bounce(waiting))):
            waiting = [pod for pod in waiting if self._placement.at[pod] != self._target[pod]]
        return Ordered(tuple(self._found), self._num_bounces, tuple(waiting), self._placement.at)

    def _wave(self, waiting: list[int]) -> bool:
        """Starts every move of `waiting` that can, in that order; whether there was one."""
        self._waves.begin()
        wave: list[Reassignment] = []
        for pod in waiting:
            target = int(self._target[pod])
            if len(wave) < self._max_per_wave and self._waves.can_start(pod, target):
                wave.append(self._waves.start(pod, target))
        if wave:
            self._found.append(tuple(wave))
        return bool(wave)

    def _bounce(self, waiting: list[int]) -> bool:
        """Parks the first pod of a circle that fits somewhere else; each pod at most once."""
        nodes = np.arange(self._placement.problem.num_nodes)
        for pod in waiting:
            if pod in self._has_bounced or self._placement.at[pod] == PENDING:
                continue
            is_open = self._placement.open_moves(np.array([pod]), nodes)[0]
            if is_open.any():
                self._has_bounced.add(pod)
                self._num_bounces += 1
                self._waves.begin()
                self._found.append((self._waves.start(pod, _roomiest(self._placement, nodes[is_open])),))
                return True
        return False


def _roomiest(placement: Arrangement, nodes: Ints) -> int:
    """The node whose scarcest resource is least scarce."""
    return int(nodes[np.argmax(placement.free_shares(nodes).min(axis=0))])

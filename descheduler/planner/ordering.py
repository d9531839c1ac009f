"""The order in which a plan is carried out: waves in which both ends hold every pod that moves.

A move starts when its target has room for the pod beside all that is there now and all that arrives in the same wave;
what leaves in that wave still counts. Rules between pods hold during the wave, each pod counted in both domains, and
after it. Moves that wait for each other in a circle are opened by a bounce: one of the pods waits on a third node.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from descheduler.planner.arrays import PENDING, Ints
from descheduler.planner.placement import Placement
from descheduler.planner.problem import Problem
from descheduler.planner.rules import AtMost, MoveLimit

__all__ = ["Move", "Ordered", "order_moves"]


@dataclass(frozen=True, slots=True)
class Move:
    """Pod `pod` goes from `source` (-1: it was pending) to `target`."""

    pod: int
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Ordered:
    """Waves of moves that run together, how many are bounces, and the pods that no order brings to their node."""

    waves: tuple[tuple[Move, ...], ...]
    num_bounces: int
    blocked: tuple[int, ...]


def order_moves(problem: Problem, assignment: Ints, *, max_per_wave: int | None = None) -> Ordered:
    """The waves that lead from the problem's assignment to `assignment`, as few as a greedy order finds."""
    return _Ordering(problem, assignment, max_per_wave or problem.num_pods).run()


class _Ordering:
    """`_placement` is the cluster after the moves so far, `_room` what is left while sources still hold what leaves."""

    def __init__(self, problem: Problem, target: Ints, max_per_wave: int) -> None:
        # Limits count what a plan moves, not how often, and the plan was made within them.
        rules = tuple(rule for rule in problem.rules if not isinstance(rule, MoveLimit))
        self._placement = Placement(dataclasses.replace(problem, rules=rules))
        self._spreads = [rule for rule in rules if isinstance(rule, AtMost)]
        self._target = target
        self._max_per_wave = max_per_wave
        self._waves: list[tuple[Move, ...]] = []
        self._num_bounces = 0
        self._has_bounced: set[int] = set()
        self._start_wave()

    def _start_wave(self) -> None:
        self._room = self._placement.room_while_moving()
        self._left: set[tuple[int, int, int]] = set()

    def run(self) -> Ordered:
        waiting = np.flatnonzero(self._target != self._placement.at).tolist()
        while waiting and (self._wave(waiting) or self._bounce(waiting)):
            waiting = [pod for pod in waiting if self._placement.at[pod] != self._target[pod]]
        return Ordered(tuple(self._waves), self._num_bounces, tuple(waiting))

    def _wave(self, waiting: list[int]) -> bool:
        """Starts every move of `waiting` that can, in pod order; whether there was one."""
        self._start_wave()
        wave: list[Move] = []
        for pod in waiting:
            target = int(self._target[pod])
            if len(wave) < self._max_per_wave and self._can_start(pod, target):
                wave.append(self._start(pod, target))
        if wave:
            self._waves.append(tuple(wave))
        return bool(wave)

    def _can_start(self, pod: int, target: int) -> bool:
        if not self._placement.open_moves(np.array([pod]), np.array([target]))[0, 0]:
            return False
        need = self._placement.need[:, pod]
        if (need > np.maximum(self._room.free[:, target], 0.0)).any():
            return False
        return not any(key in self._left for key in self._keys(pod, target))

    def _keys(self, pod: int, node: int) -> list[tuple[int, int, int]]:
        """(rule, group, domain) for each limit a domain that counts the pod on that node."""
        return [
            (index, int(rule.group[pod]), int(rule.domain[node]))
            for index, rule in enumerate(self._spreads)
            if rule.group[pod] >= 0 and rule.domain[node] >= 0
        ]

    def _start(self, pod: int, target: int) -> Move:
        source = int(self._placement.at[pod])
        if source != PENDING:
            self._left.update(set(self._keys(pod, source)) - set(self._keys(pod, target)))
        self._placement.move(pod, target)
        self._room.take(target, self._placement.need[:, pod])
        return Move(pod, source, target)

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
                self._start_wave()
                self._waves.append((self._start(pod, _roomiest(self._placement, nodes[is_open])),))
                return True
        return False


def _roomiest(placement: Placement, nodes: Ints) -> int:
    share = placement.free[:, nodes] / np.maximum(placement.problem.capacity.T[:, nodes], 1)
    return int(nodes[np.argmax(share.min(axis=0))])

"""An order of the moves in which nodes are emptied in turn: the pods of the next one leave once the last one is empty.

Whoever evicts pods node by node needs one. Moves of pods that are spread evenly hang together: such a pod may go only
to where the fewest are while it is still there, which is told by the moves before. So pods may go to other nodes than
planned, of those that stay in use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Bools, Ints
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains
from descheduler.optimizer.order.ordering import Ordered
from descheduler.optimizer.order.waves import Reassignment, WaveState
from descheduler.optimizer.problem import Problem

_MOST_ORDERS = 12
"""So many orders of nodes are tried where some cannot be emptied in the first one."""

_Moves = list[tuple[int, int]]
"""Pods and where they go, in order."""


def in_turn(drains: Drains, problem: Problem, assignment: Ints, receives: Bools) -> Ordered:
    """The moves that empty the nodes that `assignment` (int64[P]) empties, as many of them as can be in turn.

    `problem` is that of `drains`, with what moves have to keep one by one. `receives`, bool[N], are the nodes that pods
    may go to. Pods of nodes that are left are `blocked`; those of nodes that `assignment` does not empty stay.
    """
    turns = _Turns(drains, problem, assignment, receives)
    best, best_left = made, left = turns.taken(turns.nodes)
    nodes, rng = turns.nodes, np.random.default_rng(len(turns.nodes))
    for _ in range(_MOST_ORDERS):
        if not best_left:
            break
        nodes = [*left, *(node for node in rng.permutation(nodes).tolist() if node not in left)]
        made, left = turns.taken(nodes)
        if len(left) < len(best_left):
            best, best_left = made, left
    blocked = [pod for node in best_left for pod in drains.home[node].tolist()]
    return _ordered(problem, [move for moves in best for move in moves], blocked)


class _Turns:
    """Tries orders of the `nodes` that are to be emptied."""

    def __init__(self, drains: Drains, problem: Problem, assignment: Ints, receives: Bools) -> None:
        self._drains, self._planned = drains, assignment
        self._placement = Arrangement(problem)
        is_emptied = np.ones(problem.num_nodes, bool)
        is_emptied[assignment[assignment >= 0]] = False
        self.nodes: list[int] = np.flatnonzero(is_emptied & drains.can_empty).tolist()
        self._pods = {node: drains.largest_first(drains.home[node]).tolist() for node in self.nodes}
        self._targets = np.flatnonzero(receives & ~is_emptied)

    def taken(self, nodes: Sequence[int]) -> tuple[list[_Moves], list[int]]:
        """(the moves of each node that is emptied, in turn; the nodes of `nodes` that are left)."""
        self._placement.reset(self._placement.origins)
        made, left = list[_Moves](), list(nodes)
        for target_of in (self._planned_target, self._other_target):
            num_left = -1
            while num_left != len(left):
                num_left = len(left)
                tried = {node: self._emptied(node, target_of) for node in left}
                made += filter(None, tried.values())
                left = [node for node in left if not tried[node]]
        return made, left

    def _emptied(self, node: int, target_of: Callable[[int], int]) -> _Moves:
        """The moves of all pods of the node, which are made; or none."""
        moves: _Moves = []
        for pod in self._pods[node]:
            target = target_of(pod)
            if target < 0:
                for moved, _ in reversed(moves):
                    self._placement.move(moved, node)
                return []
            self._placement.move(pod, target)
            moves.append((pod, target))
        return moves

    def _planned_target(self, pod: int) -> int:
        """Where the plan has the pod; -1 where it cannot go now."""
        target = int(self._planned[pod])
        return target if self._placement.is_open(pod, target) else -1

    def _other_target(self, pod: int) -> int:
        """The same, else the fullest node that takes the pod now; -1 for none."""
        target = self._planned_target(pod)
        if target >= 0:
            return target
        room = np.maximum(self._drains.room(self._placement, self._targets), 0.0)
        fits = (self._placement.need[:, [pod]] <= room).all(axis=0)
        fits &= self._placement.open_moves(np.array([pod]), self._targets)[0]
        if not fits.any():
            return -1
        slack = (room * self._drains.scale[:, self._targets]).sum(axis=0)
        return int(self._targets[np.argmin(np.where(fits, slack, np.inf))])


def _ordered(problem: Problem, moves: _Moves, blocked: Sequence[int]) -> Ordered:
    """`moves` in waves, each of such as follow each other and can be made together."""
    state, waves = WaveState(problem), list[list[Reassignment]]()
    for pod, target in moves:
        if not (waves and state.can_start(pod, target)):
            state.begin()
            waves.append([])
        waves[-1].append(state.start(pod, target))
    return Ordered(tuple(map(tuple, waves)), tuple(blocked), state.placement.at)

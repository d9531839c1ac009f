"""Makes many moves at once, all of which were found apart from the rules: what rules refuse is taken back."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.objectives.fullest_node import place_on_fullest
from descheduler.optimizer.parts import Parts
from descheduler.optimizer.rules import AtMost, MoveLimit


def carry_out(placement: Arrangement, parts: Parts, pairs: Sequence[tuple[int, int]]) -> bool:
    """Moves the pods of `pairs`, (pod, node) each with -1 for none; placed pods are at home before.

    Placed pods whose move is refused stay at home, and what was to take their place is not moved either. Where a rule
    keeps one from home, it goes to the fullest node that it fits; False: there is none.
    """
    moves = [(pod, node) for pod, node in pairs if placement.origins[pod] != PENDING]
    waiting = _go_one_by_one(placement, moves)
    moved = [pod for pod, _ in moves if placement.at[pod] != placement.origins[pod]]
    away = {pod for pod in moved if _may_be_nowhere(placement, pod)}
    if not _go_together(placement, parts, [each for each in waiting if _may_be_nowhere(placement, each[0])], away):
        return False
    for pod, node in pairs:
        if placement.origins[pod] == PENDING:
            _go(placement, pod, node)
    return True


def _go_one_by_one(placement: Arrangement, moves: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Makes the moves that are open, then those that are open after them, and so on; returns the rest."""
    waiting = list(moves)
    while True:
        rest = [(pod, node) for pod, node in waiting if not _go(placement, pod, node)]
        if len(rest) == len(waiting):
            return rest
        waiting = rest


def _may_be_nowhere(placement: Arrangement, pod: int) -> bool:
    """Whether only rules concern the pod that limit how many there are: others would not know what they lose."""
    rules = placement.problem.rules
    return all(isinstance(rule, AtMost | MoveLimit) or rule.group[pod] < 0 for rule in rules)


def _go_together(placement: Arrangement, parts: Parts, waiting: Sequence[tuple[int, int]], away: set[int]) -> bool:
    """Moves that wait for each other: all pods depart before one arrives. `away`: pods that were moved before.

    All of them may be nowhere meanwhile.
    """
    departed = [(pod, node) for pod, node in waiting if _depart(placement, pod)]
    homeless = [pod for pod, node in departed if not _go(placement, pod, node)]
    away |= {pod for pod, _ in departed}
    while homeless:
        pod = homeless.pop()
        away.remove(pod)
        homeless += _clear_home(placement, parts, pod, away)
        if not _go(placement, pod, int(placement.origins[pod])) and not place_on_fullest(placement, pod):
            return False
    return True


def _depart(placement: Arrangement, pod: int) -> bool:
    """Takes the pod off its node if limits of moves let it; whether they do."""
    may_leave = bool(placement.may_leave(np.array([pod]))[0])
    if may_leave:
        placement.move(pod, PENDING)
    return may_leave


def _go(placement: Arrangement, pod: int, node: int) -> bool:
    """Moves the pod if it may go there; whether it may."""
    if node == PENDING or not placement.is_open(pod, node):
        return False
    placement.move(pod, node)
    return True


def _clear_home(placement: Arrangement, parts: Parts, pod: int, away: Set[int]) -> list[int]:
    """Takes those of the pods `away` that are on the pod's old machine off it, if it needs their room; returns them."""
    home = int(placement.origins[pod])
    if placement.is_open(pod, home):
        return []
    on_machine = np.concatenate([placement.evictable_on(node) for node in parts.nodes_of[parts.machine[home]].tolist()])
    came = [other for other in on_machine.tolist() if other in away]
    for other in came:
        placement.move(other, PENDING)
    return came

"""Which moves make room for which: chains of moves over parts of nodes, in the order in which they can be made."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np

from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.problem import Problem


def room_chains(
    problem: Problem, moves: Sequence[Reassignment], gang_of: Callable[[int], Hashable | None]
) -> list[list[Reassignment]]:
    """`moves`, which can be made in their order, in chains: a pending pod or gang and the moves that make room for it.

    That is all that it cannot do without: moves that leave the room that it takes, those that leave the room for these,
    and so on. A move that an earlier chain has is not in a later one. A pod for which earlier chains make all the room
    joins the last of these. Moves that make room for no pending pod are left out.
    """
    needed = _moves_before(problem, moves)
    chains: list[list[Reassignment]] = []
    chain_of: dict[Reassignment, int] = {}
    for placed in _units(moves, gang_of):
        closure = _closure(placed, needed)
        missing = [move for move in moves if move in closure and move not in chain_of]
        known = [chain_of[move] for move in closure if move in chain_of]
        if known and all(move.source == PENDING for move in missing):
            number = max(known)
        else:
            number = len(chains)
            chains.append([])
        chains[number] += missing
        chain_of.update(dict.fromkeys(missing, number))
    return chains


def _units(moves: Sequence[Reassignment], gang_of: Callable[[int], Hashable | None]) -> Iterable[list[Reassignment]]:
    """The moves of pending pods, those of a gang together."""
    units: dict[Hashable, list[Reassignment]] = {}
    for move in moves:
        if move.source == PENDING:
            units.setdefault(gang_of(move.pod) or move, []).append(move)
    return units.values()


def _closure(moves: Iterable[Reassignment], needed: dict[Reassignment, list[Reassignment]]) -> set[Reassignment]:
    """The moves, what they need, and so on."""
    found, waiting = set[Reassignment](), list(moves)
    while waiting:
        move = waiting.pop()
        if move not in found:
            found.add(move)
            waiting += needed[move]
    return found


def _moves_before(problem: Problem, moves: Sequence[Reassignment]) -> dict[Reassignment, list[Reassignment]]:
    """By move, the moves that leave the room that it takes; it takes free room first."""
    free = np.maximum(problem.part_capacity - problem.usage(problem.assignment), 0)
    left: dict[int, list[tuple[Reassignment, Ints]]] = {}
    found: dict[Reassignment, list[Reassignment]] = {}
    for move in moves:
        found[move] = []
        for part in problem.parts_at(move.target):
            lacking = problem.need[move.pod] - np.minimum(free[part], problem.need[move.pod])
            free[part] -= problem.need[move.pod] - lacking
            for giver, rest in left.get(part, []):
                given = np.minimum(lacking, rest)
                if given.any():
                    found[move].append(giver)
                    lacking, rest[:] = lacking - given, rest - given
        for part in problem.parts_at(move.source):
            left.setdefault(part, []).append((move, problem.need[move.pod].copy()))
    return found

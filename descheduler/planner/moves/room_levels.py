"""From when on room can be held for pods that take what others leave."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.problem import Problem


def held_after(
    problem: Problem, moves: Sequence[Reassignment], nodes: Sequence[str]
) -> dict[Reassignment, Reassignment]:
    """For each move, the earlier move that frees its room, which no move in between needs.

    `moves` can be made in their order; `nodes` are the names of the problem's. Where there never seems to be room, it
    is the last earlier move away from the target. A move whose target none has left before is left out.
    """
    parts = problem.parts_of(np.array([end for move in moves for end in (move.source, move.target) if end != PENDING]))
    level = _levels(problem, moves, parts)
    leaving: dict[str, list[int]] = {}
    found: dict[Reassignment, Reassignment] = {}
    for number, move in enumerate(moves):
        if earlier := leaving.get(nodes[move.target]):
            need, taken = problem.need[move.pod], np.searchsorted(parts, problem.parts_at(move.target))
            free = (level[earlier[0] : number, taken] >= need).all(axis=(1, 2))
            first = earlier[0] + int(np.max(np.flatnonzero(~free), initial=-1)) + 1
            start = next((start for start in earlier if start >= first), earlier[-1])
            level[start:number, taken] -= need
            found[move] = moves[start]
        if move.source != PENDING:
            leaving.setdefault(nodes[move.source], []).append(number)
    return found


def _levels(problem: Problem, moves: Sequence[Reassignment], parts: Sequence[int]) -> Ints:
    """int64[M, P, R]: what is free on `parts` after each of `moves`."""
    free = (problem.part_capacity - problem.usage(problem.assignment))[parts]
    changes: Ints = np.zeros((len(moves), *free.shape), dtype=np.int64)
    for change, move in zip(changes, moves, strict=True):
        change[np.searchsorted(parts, problem.parts_at(move.target))] -= problem.need[move.pod]
        change[np.searchsorted(parts, problem.parts_at(move.source))] += problem.need[move.pod]
    levels: Ints = free + np.cumsum(changes, axis=0)
    return levels

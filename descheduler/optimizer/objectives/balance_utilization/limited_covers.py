"""How many nodes limits on moves let be relieved, and at what cost: one small model over all nodes that are over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.binary_program import BinaryProgram
from descheduler.optimizer.problem import Problem

__all__ = ["NodeCover", "least_within_limits"]


@dataclass(frozen=True, slots=True, eq=False)
class NodeCover:
    """What relieves one node: `excess` (int64[D]) is to be taken by `pods` (int64[M]), which need `need` (int64[M, D]).

    At least `fewest` of the pods are needed for it, and no choice costs less than `least_cost`.
    """

    pods: Ints
    excess: Ints
    need: Ints
    fewest: int
    least_cost: int


def least_within_limits(problem: Problem, covers: Sequence[NodeCover]) -> tuple[int, int]:
    """(nodes that can be relieved at most, what so many cost at least), with the problem's limits on moves in total.

    Both are bounds: where the pods go is not looked at.
    """
    pods = np.concatenate([cover.pods for cover in covers])
    cost = problem.cost[pods].tolist()
    program = BinaryProgram([1] * len(covers) + [0] * len(pods))
    _state_covers(program, problem, covers)
    for rule in problem.move_limits:
        for group, most in rule.binding(pods):
            program.limit({len(covers) + int(index): 1 for index in np.flatnonzero(rule.group[pods] == group)}, most)
    relieved = program.most_gained() or 0
    program.limit(dict.fromkeys(range(len(covers)), -1), -relieved)
    program.gains = [0] * len(covers) + [-each for each in cost]
    return relieved, -(program.most_gained() or 0)


def _state_covers(program: BinaryProgram, problem: Problem, covers: Sequence[NodeCover]) -> None:
    """A relieved node loses what it has too much of. The least of every cover is said, too: it tightens fractions."""
    first = len(covers)
    for number, cover in enumerate(covers):
        taken = [*cover.need.T, np.ones(len(cover.pods), np.int64), problem.cost[cover.pods]]
        least = [*cover.excess.tolist(), cover.fewest, cover.least_cost]
        for amounts, needed in zip(taken, least, strict=True):
            row = {first + index: -amount for index, amount in enumerate(amounts.tolist())}
            program.limit({number: needed, **row}, 0)
        first += len(cover.pods)

"""How many nodes limits on moves let be relieved, and at what cost: one small model over all nodes that are over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.rules import MoveLimit

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

__all__ = ["NodeCover", "least_within_limits"]

_WORK = 5.0
"""The deterministic time of CP-SAT for each of the two solves. The bound reached by then is right, too."""


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
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    relieved = [model.new_bool_var("") for _ in covers]
    moved = {int(pod): model.new_bool_var("") for cover in covers for pod in cover.pods}
    for is_relieved, cover in zip(relieved, covers, strict=True):
        _state_cover(model, problem, cover, is_relieved, moved)
    for rule in problem.move_limits:
        _state_limit(model, rule, moved)
    model.maximize(sum(relieved))
    most = min(int(_bound(model) + 1e-6), len(covers))
    model.add(sum(relieved) >= most)
    model.minimize(sum(int(problem.cost[pod]) * variable for pod, variable in moved.items()))
    return most, max(int(np.ceil(_bound(model) - 1e-6)), 0)


def _state_cover(
    model: cp_model.CpModel,
    problem: Problem,
    cover: NodeCover,
    is_relieved: cp_model.IntVar,
    moved: Mapping[int, cp_model.IntVar],
) -> None:
    """A relieved node loses what it has too much of. The least of every cover is said, too: it tightens fractions."""
    pods = [moved[int(pod)] for pod in cover.pods]
    for column, excess in enumerate(cover.excess.tolist()):
        taken = sum(need * variable for need, variable in zip(cover.need[:, column].tolist(), pods, strict=True))
        model.add(taken >= excess * is_relieved)
    model.add(sum(pods) >= cover.fewest * is_relieved)
    cost = sum(each * variable for each, variable in zip(problem.cost[cover.pods].tolist(), pods, strict=True))
    model.add(cost >= cover.least_cost * is_relieved)


def _state_limit(model: cp_model.CpModel, rule: MoveLimit, moved: Mapping[int, cp_model.IntVar]) -> None:
    groups: dict[int, list[cp_model.IntVar]] = {}
    for pod, variable in moved.items():
        groups.setdefault(int(rule.group[pod]), []).append(variable)
    for group, counted in groups.items():
        if group >= 0 and len(counted) > rule.limit[group]:
            model.add(sum(counted) <= max(int(rule.limit[group]), 0))


def _bound(model: cp_model.CpModel) -> float:
    """What no solution is better than; of a model without a solution the best there could be of no terms, 0."""
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.catch_sigint_signal = False
    solver.parameters.max_deterministic_time = _WORK
    return 0.0 if solver.solve(model) == cp_model.INFEASIBLE else float(solver.best_objective_bound)

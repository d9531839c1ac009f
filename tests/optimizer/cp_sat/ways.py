"""All ways to place pods that a model has, for tiny clusters."""

from __future__ import annotations

from ortools.sat.python import cp_model

from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.cp_sat.node_model import NodeModel

Places = tuple[int, ...]
"""The node of each pod."""


class _Ways(cp_model.CpSolverSolutionCallback):
    """Takes note of where pods are in each solution; the others are where they are `now`."""

    def __init__(self, model: NodeModel, now: Ints) -> None:
        super().__init__()
        self.found: set[Places] = set()
        self._model, self._now = model, now

    def on_solution_callback(self) -> None:
        """One more."""
        after = self._now.tolist()
        for (pod, node), variable in self._model.at.items():
            if self.boolean_value(variable):
                after[pod] = node
        self.found.add(tuple(after))


def ways(model: NodeModel, now: Ints) -> set[Places]:
    """Where all pods can be, for models with few other variables: each of their values is looked at."""
    solver, seen = cp_model.CpSolver(), _Ways(model, now)
    solver.parameters.num_workers = 1
    solver.parameters.enumerate_all_solutions = True
    solver.solve(model.model, seen)
    return seen.found


def distinct_ways(model: NodeModel, now: Ints) -> set[Places]:
    """As `ways`, for models with many other variables: each way that was found is forbidden to the next solve."""
    solver, found = cp_model.CpSolver(), set[Places]()
    solver.parameters.num_workers = 1
    while solver.solve(model.model, seen := _Ways(model, now)) in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        found |= seen.found
        (after,) = seen.found
        model.model.add_bool_or([model.at[pod, after[pod]].negated() for pod in model.pods])
    return found

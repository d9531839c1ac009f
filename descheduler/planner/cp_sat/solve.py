"""Solves a neighbourhood by CP-SAT and makes what it finds the placement, where that is better."""

from __future__ import annotations

from dataclasses import dataclass

from descheduler.planner.cp_sat.node_model import NodeModel
from descheduler.planner.cp_sat.rule_model import state_rules
from descheduler.planner.objective import Neighbourhood, PreparedObjective
from descheduler.planner.placement import Placement

__all__ = ["Solved", "solve_neighbourhood"]


@dataclass(frozen=True, slots=True)
class Solved:
    """What became of a neighbourhood. `was_closed`: it was proved to hold nothing better. `work` as in `Limits`."""

    changes: tuple[tuple[int, int], ...]
    was_closed: bool
    work: float


def solve_neighbourhood(
    objective: PreparedObjective,
    placement: Placement,
    part: Neighbourhood,
    *,
    work_limit: float,
    seconds_limit: float,
    seed: int,
) -> Solved:
    """The moves, as (pod, node), that lead from the placement to the best one found; the placement is not changed.

    One thread: two processes with a seed each find more than two threads on one model.
    """
    from ortools.sat.python import cp_model

    model = NodeModel(placement, part)
    state_rules(model, placement)
    objective.add_to(model, placement, part)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    # Its own handler would take Ctrl-C from the program during the solve, and leave none behind.
    solver.parameters.catch_sigint_signal = False
    solver.parameters.random_seed = seed
    solver.parameters.max_deterministic_time = work_limit
    if seconds_limit < float("inf"):
        solver.parameters.max_time_in_seconds = max(seconds_limit, 0.01)
    status = solver.solve(model.finish())
    work = solver.response_proto.deterministic_time
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Solved((), status == cp_model.INFEASIBLE, work)
    changes = tuple(
        (pod, node)
        for pod in model.pods
        for node in model.options[pod]
        if node != placement.at[pod] and solver.boolean_value(model.at[pod, node])
    )
    return Solved(changes, status == cp_model.OPTIMAL, work)

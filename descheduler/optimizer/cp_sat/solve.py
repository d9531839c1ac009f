"""Solves a neighbourhood by CP-SAT. The placement stays as it is: what is found is for the search to judge."""

from __future__ import annotations

from dataclasses import dataclass

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.cp_sat.node_model import NodeModel
from descheduler.optimizer.cp_sat.order_model import state_order
from descheduler.optimizer.cp_sat.rule_model import state_rules
from descheduler.optimizer.objective import Neighbourhood, PreparedObjective


@dataclass(frozen=True, slots=True)
class Solved:
    """What became of a neighbourhood.

    changes:    (pod, node) for each pod that is somewhere else in what was found; empty where nothing was.
    was_closed: nothing in the neighbourhood is better than what was found, by proof.
    work:       as in `Limits`.
    """

    changes: tuple[tuple[int, int], ...]
    was_closed: bool
    work: float


def solve_neighbourhood(
    objective: PreparedObjective,
    placement: Arrangement,
    neighbourhood: Neighbourhood,
    *,
    work_limit: float,
    seconds_limit: float,
    seed: int,
    in_order: bool = False,
    relaxes: bool = True,
    for_cost: bool = False,
) -> Solved:
    """The best that is found until one of the limits, in units of `Limits`.

    in_order: of a whole problem, that to which moves lead one after the other from `placement`; see `state_order`.
    relaxes:  the solver looks at the linear relaxation, too.
    for_cost: moves that cost less are looked for, with figures that are no worse. This is closed far sooner.

    One thread: two processes with a seed each find more than two threads on one model.
    """
    from ortools.sat.python import cp_model

    model = NodeModel(placement, neighbourhood)
    state_rules(model, placement)
    if in_order:
        state_order(model, placement)
    objective.add_to(model, placement, neighbourhood)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = int(relaxes)
    # Its own handler would take Ctrl-C from the program during the solve, and leave none behind.
    solver.parameters.catch_sigint_signal = False
    solver.parameters.random_seed = seed
    solver.parameters.max_deterministic_time = work_limit
    solver.parameters.max_time_in_seconds = max(seconds_limit, 0.01)
    work = 0.0
    if for_cost:
        solver.parameters.fix_variables_to_their_hinted_value = True  # hints say where pods are
        if solver.solve(model.figures_alone()) == cp_model.OPTIMAL:
            model.keep_figures(round(solver.objective_value))
        solver.parameters.fix_variables_to_their_hinted_value = False
        solver.parameters.max_time_in_seconds = max(seconds_limit - solver.wall_time, 0.01)
        work = solver.response_proto.deterministic_time
    status = solver.solve(model.finish())
    work += solver.response_proto.deterministic_time
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Solved((), status == cp_model.INFEASIBLE, work)
    changes = tuple(
        (pod, node)
        for pod in model.pods
        for node in model.options[pod]
        if node != placement.at[pod] and solver.boolean_value(model.at[pod, node])
    )
    return Solved(changes, status == cp_model.OPTIMAL, work)

"""Each objective over tiny problems: its bound, its model, its first plan and its pieces, beside all assignments."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from descheduler.optimizer import Limits, Problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.cp_sat.solve import solve_neighbourhood
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objective import Neighbourhood, PreparedObjective
from tests.optimizer.tiny import is_feasible
from tests.optimizer.tiny_objectives import OBJECTIVES, Make, best, is_of_plans, problem_for

_MOST_MOVABLE = 4

every = pytest.mark.parametrize("make", OBJECTIVES)
seeds = pytest.mark.parametrize("seed", range(4))


def small_problem(make: Make, seed: int, *, rules: bool) -> Problem:
    """One of which few pods may move, so that all assignments are soon looked at.

    Where nodes share parts, a pod with a node may be on those alone that are of as many parts.
    """
    problem = problem_for(make, seed, rules=rules)
    pod_class, allowed = problem.pod_class, problem.allowed
    if problem.parts is not None:
        size = (problem.parts.taken >= 0).sum(axis=1)
        is_alike = (size[problem.assignment][:, None] == size) | (problem.assignment[:, None] < 0)
        pod_class, allowed = np.arange(problem.num_pods), allowed[pod_class] & is_alike
    return dataclasses.replace(
        problem,
        pod_class=pod_class,
        allowed=allowed,
        evictable=problem.evictable & ((np.arange(problem.num_pods) < _MOST_MOVABLE) | (problem.assignment < 0)),
        both_ends=np.zeros(2, bool),
    )


def solved(goal: PreparedObjective, placement: Arrangement, neighbourhood: Neighbourhood) -> None:
    """Makes the moves that the solver finds."""
    found = solve_neighbourhood(
        goal, placement, neighbourhood, work_limit=float("inf"), seconds_limit=float("inf"), seed=0
    )
    for pod, node in found.changes:
        placement.move(pod, node)


@every
@seeds
def test_no_assignment_is_better_than_the_bound_and_the_model_finds_the_best(make: Make, seed: int) -> None:
    problem = small_problem(make, seed, rules=False)
    objective, placement = make(problem), Arrangement(problem)
    goal, least = objective.prepare(problem), best(problem, objective)

    solved(goal, placement, Neighbourhood(np.arange(problem.num_nodes), np.flatnonzero(problem.evictable)))

    assert goal.bound() <= least
    assert is_feasible(problem, placement.at)
    assert is_of_plans(problem, objective, placement.at)
    assert goal.value(placement.at) == least


@every
@seeds
def test_first_plan_and_what_is_tidied_keep_the_rules_and_make_nothing_worse(make: Make, seed: int) -> None:
    problem = small_problem(make, seed, rules=True)
    objective, placement = make(problem), Arrangement(problem)
    goal, rng, budget = objective.prepare(problem), np.random.default_rng(seed), Budget(Limits(work=1.0))
    before = goal.value(problem.assignment)

    goal.first_plan(placement, rng, budget)
    first = goal.value(placement.at)
    goal.tidy(placement)

    assert is_feasible(problem, placement.at)
    assert is_of_plans(problem, objective, placement.at)
    assert goal.value(placement.at) <= first
    assert goal.value(placement.at) <= before


@pytest.mark.parametrize("make", [each for each in OBJECTIVES if each.id != "defragment devices"])
@seeds
def test_piece_after_piece_leads_to_the_best(make: Make, seed: int) -> None:
    """Pieces are small: some pods with nodes that they might go to, and others that are in their way."""
    problem = small_problem(make, seed, rules=False)
    objective, placement = make(problem), Arrangement(problem)
    goal, rng = objective.prepare(problem), np.random.default_rng(seed)

    for _ in range(12):
        piece = goal.neighbourhood(placement, rng, 3)
        if piece is None:
            break
        assert problem.evictable[piece.pods].all()
        assert (np.diff(piece.pods) > 0).all()
        assert (np.diff(piece.nodes) > 0).all()
        value = goal.value(placement.at)
        solved(goal, placement, piece)
        assert goal.value(placement.at) <= value

    assert goal.value(placement.at) == best(problem, objective)

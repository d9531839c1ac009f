"""On tiny problems the planner finds the best of all assignments that an order leads to, and its bounds hold."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from descheduler.optimizer import Limits, replay, solve
from tests.optimizer.tiny import is_feasible
from tests.optimizer.tiny_objectives import OBJECTIVES, Make, best, problem_for
from tests.series import Part, parts

pytestmark = pytest.mark.long

_SEEDS = range(25)
_PARTS = pytest.mark.parametrize("part", parts(3))


@_PARTS
@pytest.mark.parametrize("make", OBJECTIVES)
def test_no_assignment_is_better_than_the_bound(make: Make, part: Part) -> None:
    for seed in part.of(_SEEDS):
        problem = problem_for(make, seed)

        bound = make(problem).prepare(problem).bound()

        assert bound <= best(problem, make(problem)), seed


@_PARTS
@pytest.mark.parametrize("make", OBJECTIVES)
def test_plan_survives_its_replay_and_ends_where_it_says(make: Make, part: Part) -> None:
    for seed in part.of(_SEEDS):
        problem = problem_for(make, seed)

        plan = solve(problem, make(problem), Limits(work=0.02))

        assert replay(problem, plan.waves, plan.assignment) == [], seed
        assert is_feasible(problem, plan.assignment), seed
        assert plan.value == make(problem).prepare(problem).value(plan.assignment)
        assert plan.bound <= plan.value <= plan.value_before


@_PARTS
@pytest.mark.parametrize("make", OBJECTIVES)
def test_plan_is_as_good_as_the_best_assignment_where_all_can_move_at_once(make: Make, part: Part) -> None:
    """With every resource held at both ends any feasible assignment has an order, so nothing is lost to ordering."""
    for seed in part.of(_SEEDS, shift=1):
        problem = problem_for(make, seed, rules=False)
        problem = dataclasses.replace(problem, both_ends=np.ones(2, bool))

        plan = solve(problem, make(problem), Limits(work=0.1))

        assert plan.value <= best(problem, make(problem)), seed

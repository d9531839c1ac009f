"""Swaps change the guide's sum by what the array operations say, and annealing keeps every rule."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.limits import Budget, Limits
from tests.bench.roadef.random_instances import random_instance
from tests.bench.roadef.reassign.annealing import Annealing
from tests.bench.roadef.reassign.swaps import open_swaps, swap_changes, try_swap
from tests.optimizer.test_local_search import guide_sum
from tests.optimizer.tiny import is_feasible, random_problem

pytestmark = pytest.mark.rest


@pytest.mark.parametrize("seed", range(5))
def test_change_of_a_swap_is_what_the_sum_changes_by(seed: int) -> None:
    instance = random_instance(seed)
    placement, guide = Arrangement(instance.problem), instance.objective.prepare(instance.problem)
    pods, others = placement.evictable_on(0), placement.evictable_on(1)

    change = swap_changes(placement, guide, pods, others)

    before = guide_sum(placement, guide)
    for row, column in np.argwhere(np.isfinite(change)).tolist():
        if try_swap(placement, int(pods[row]), int(others[column])):
            assert guide_sum(placement, guide) - before == pytest.approx(change[row, column])
            placement.reset(instance.problem.assignment)


@pytest.mark.parametrize("seed", range(5))
def test_annealing_keeps_every_rule(seed: int) -> None:
    instance = random_instance(seed)
    placement, guide = Arrangement(instance.problem), instance.objective.prepare(instance.problem)
    budget = Budget(Limits(work=1e-3))

    Annealing(placement, guide, np.random.default_rng(seed)).run(budget, budget, 1.0)

    assert is_feasible(instance.problem, placement.at)
    assert (placement.at != instance.problem.assignment).any()


def test_swaps_that_are_open_lead_to_feasible_assignments_only() -> None:
    for seed in range(200):
        problem = random_problem(np.random.default_rng(seed))
        here, there = 0, 1
        placement = Arrangement(problem)
        pods, others = placement.evictable_on(here), placement.evictable_on(there)
        if not len(pods) or not len(others):
            continue

        is_open = open_swaps(placement, pods, others)

        for row, column in np.argwhere(is_open).tolist():
            if try_swap(placement, int(pods[row]), int(others[column])):
                assert is_feasible(problem, placement.at), (seed, row, column)
                placement.reset(problem.assignment)

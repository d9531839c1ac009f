"""What the array operations say a move or swap changes is the difference of the guide's sum before and after it."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.planner.arrays import Ints
from descheduler.planner.limits import Budget, Limits
from descheduler.planner.local_search.annealing import Annealing
from descheduler.planner.local_search.shifts import climb_by_shifts, shift_changes
from descheduler.planner.local_search.swaps import swap_changes
from descheduler.planner.objective import Guide
from descheduler.planner.placement import Placement
from tests.planner.reassignments import random_instance
from tests.planner.tiny import is_feasible


def _sum(placement: Placement, guide: Guide) -> float:
    nodes: Ints = np.arange(placement.problem.num_nodes)
    pods: Ints = np.arange(placement.problem.num_pods)
    return float(guide.node_cost(nodes, placement.usage).sum() + guide.move_cost(pods, placement.at).sum())


@pytest.mark.parametrize("seed", range(5))
def test_change_of_a_shift_is_what_the_sum_changes_by(seed: int) -> None:
    instance = random_instance(seed)
    placement, guide = Placement(instance.problem), instance.objective.prepare(instance.problem)
    pods, nodes = np.arange(instance.problem.num_pods), np.arange(instance.problem.num_nodes)

    change = shift_changes(placement, guide, pods, nodes)

    before = _sum(placement, guide)
    for pod, node in np.argwhere(np.isfinite(change)).tolist():
        placement.move(pod, node)
        assert _sum(placement, guide) - before == pytest.approx(change[pod, node])
        placement.reset(instance.problem.assignment)


@pytest.mark.parametrize("seed", range(5))
def test_change_of_a_swap_is_what_the_sum_changes_by(seed: int) -> None:
    instance = random_instance(seed)
    placement, guide = Placement(instance.problem), instance.objective.prepare(instance.problem)
    pods, others = placement.evictable_on(0), placement.evictable_on(1)

    change = swap_changes(placement, guide, pods, others)

    before = _sum(placement, guide)
    for row, column in np.argwhere(np.isfinite(change)).tolist():
        if placement.try_swap(int(pods[row]), int(others[column])):
            assert _sum(placement, guide) - before == pytest.approx(change[row, column])
            placement.reset(instance.problem.assignment)


@pytest.mark.parametrize("seed", range(5))
def test_climbing_lowers_the_sum_until_no_single_move_does(seed: int) -> None:
    instance = random_instance(seed)
    placement, guide = Placement(instance.problem), instance.objective.prepare(instance.problem)
    budget, nodes = Budget(Limits(work=10.0)), np.arange(5)
    before = _sum(placement, guide)

    last = np.inf
    while (now := _sum(placement, guide)) < last:
        climb_by_shifts(placement, guide, nodes, budget)
        last = now

    assert _sum(placement, guide) < before
    assert shift_changes(placement, guide, np.arange(24), nodes).min() > -1e-6
    assert is_feasible(instance.problem, placement.at)


@pytest.mark.parametrize("seed", range(5))
def test_annealing_keeps_every_rule(seed: int) -> None:
    instance = random_instance(seed)
    placement, guide = Placement(instance.problem), instance.objective.prepare(instance.problem)
    budget = Budget(Limits(work=1e-3))

    Annealing(placement, guide, np.random.default_rng(seed)).run(budget, budget, 1.0)

    assert is_feasible(instance.problem, placement.at)
    assert (placement.at != instance.problem.assignment).any()

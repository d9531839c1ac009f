"""What the array operations say a move changes is the difference of the guide's sum before and after it."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.limits import Budget, Limits
from descheduler.optimizer.local_search import climb_by_shifts, shift_changes
from descheduler.optimizer.objective import Guide
from tests.bench.roadef.random_instances import random_instance
from tests.optimizer.tiny import is_feasible


def guide_sum(placement: Arrangement, guide: Guide) -> float:
    """What the hill climb lowers."""
    nodes: Ints = np.arange(placement.problem.num_nodes)
    pods: Ints = np.arange(placement.problem.num_pods)
    return float(guide.node_cost(nodes, placement.usage).sum() + guide.move_cost(pods, placement.at).sum())


@pytest.mark.parametrize("seed", range(5))
def test_change_of_a_shift_is_what_the_sum_changes_by(seed: int) -> None:
    instance = random_instance(seed)
    placement, guide = Arrangement(instance.problem), instance.objective.prepare(instance.problem)
    pods, nodes = np.arange(instance.problem.num_pods), np.arange(instance.problem.num_nodes)

    change = shift_changes(placement, guide, pods, nodes)

    before = guide_sum(placement, guide)
    for pod, node in np.argwhere(np.isfinite(change)).tolist():
        placement.move(pod, node)
        assert guide_sum(placement, guide) - before == pytest.approx(change[pod, node])
        placement.reset(instance.problem.assignment)


@pytest.mark.parametrize("seed", range(5))
def test_climbing_lowers_the_sum_until_no_single_move_does(seed: int) -> None:
    instance = random_instance(seed)
    placement, guide = Arrangement(instance.problem), instance.objective.prepare(instance.problem)
    budget, nodes = Budget(Limits(work=10.0)), np.arange(5)
    before = guide_sum(placement, guide)

    last = np.inf
    while (now := guide_sum(placement, guide)) < last:
        climb_by_shifts(placement, guide, nodes, budget)
        last = now

    assert guide_sum(placement, guide) < before
    assert shift_changes(placement, guide, np.arange(24), nodes).min() > -1e-6
    assert is_feasible(instance.problem, placement.at)

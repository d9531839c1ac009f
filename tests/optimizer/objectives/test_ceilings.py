"""What has to leave a node that is over its ceiling in one resource and just at it in another."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import BalanceUtilization, make_problem
from descheduler.optimizer.objectives.balance_utilization.ceilings import Ceilings


def test_only_resources_over_the_ceiling_are_covered() -> None:
    """Node 0 has 2 too much of the first resource, and of the second what it may have."""
    problem = make_problem([[4, 1], [2, 1], [3, 0]], [[10, 10], [10, 10]], [0, 0, 0])

    ceilings = Ceilings(problem, np.array([[7, 2], [10, 10]]))

    cover = ceilings.covers[0]
    assert cover is not None
    assert (cover.chosen, cover.cost, cover.bound) == ((1,), 1, 1)


@pytest.mark.parametrize("cost", [1, 2])
def test_the_fewest_pods_are_counted_whatever_each_of_them_costs(cost: int) -> None:
    """Both of 2 have to leave, for the pods of 5 are pinned."""
    problem = make_problem(
        [[2], [2], [5], [5]], [[14], [10]], [0] * 4, cost=[cost] * 4, evictable=[True, True, False, False]
    )

    ceilings = Ceilings(problem, np.array([[10], [10]]))

    assert ceilings.fewest == {0: (0, 1)}
    assert ceilings.least_counts == {0: 2}
    cover = ceilings.covers[0]
    assert cover is not None
    assert cover.bound == 2 * cost


def test_the_bound_is_of_the_nodes_that_pods_relieve_beside_those_that_none_do() -> None:
    """Node 0 has a pinned pod of 9. Node 1 loses the pod of 2."""
    problem = make_problem([[9], [1], [2], [6]], [[10]] * 3, [0, 0, 1, 1], cost=[1, 1, 3, 9], evictable=[0, 1, 1, 1])

    assert BalanceUtilization(np.array([[7]] * 3)).prepare(problem).bound() == (1, 3)


def test_a_node_is_not_worse_off_that_has_more_of_what_it_is_under_its_ceiling_in() -> None:
    """It was over in the first resource and is less so."""
    problem = make_problem([[9, 1]], [[10, 10], [10, 10]], [0])
    goal = BalanceUtilization(np.array([[6, 6], [6, 6]])).prepare(problem)

    before, now = (float(goal.node_cost(np.array([0]), np.array(used))[0]) for used in ([[9], [1]], [[8], [5]]))

    assert 0 < now < before

"""Where large pods come to, and others for them, by the model of the bound."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer import BalanceUtilization, Problem, Together, make_problem
from descheduler.optimizer.objectives.balance_utilization.large_pods import large_pods
from descheduler.optimizer.objectives.balance_utilization.relief import least_relief


def proposed(problem: Problem, *most: int) -> list[int]:
    found = BalanceUtilization(np.array(most)[:, None]).prepare(problem).proposed()
    assert found is not None
    at: list[int] = found.tolist()
    return at


def test_a_large_pod_comes_to_a_node_that_is_over_its_ceiling_until_others_leave_it() -> None:
    """The pod of 6 fits node 1 alone, once both of 4 have left."""
    problem = make_problem(
        [[6], [5], [4], [4], [3], [3]],
        [[12]] * 4,
        [0, 0, 1, 1, 2, 3],
        evictable=[True, False, True, True, False, False],
    )

    at = proposed(problem, 7, 7, 7, 7)

    assert at[0] == 1
    assert sorted(at[2:4]) == [2, 3]


def test_which_of_two_large_pods_comes_to_which_place_is_tried_in_several_orders() -> None:
    """A pod of 5 makes place for one of 6 on nodes 1 and 2 each. The second of 6 may go only where pod 6 is."""
    company = Together(np.array([-1, -1, 0, 1, -1, -1, 1]), np.arange(5), np.array([[0, 1]]))
    problem = make_problem(
        [[6], [3], [6], [3], [5], [5], [1]],
        [[9], [9], [9], [9], [20]],
        [0, 0, 3, 3, 1, 2, 1],
        pod_class=[0, 1, 0, 1, 1, 1, 1],
        allowed=[[True, True, True, True, False], [True] * 5],
        evictable=[True, False, True, False, True, True, False],
        rules=[company],
    )

    assert proposed(problem, 7, 7, 7, 7, 20) == [2, 0, 1, 3, 4, 4, 1]


def test_of_plans_that_cost_the_same_one_is_proposed_whose_pods_wait_for_no_others() -> None:
    """The pods of 4 may come to node 2 or 3 as things are, or each to where the other one leaves: a circle."""
    problem = make_problem(
        [[4], [4], [4], [4]], [[8], [8], [4], [4]], [0, 0, 1, 1], evictable=[True, False, True, False]
    )
    goal = BalanceUtilization(np.array([5, 5, 4, 4])[:, None]).prepare(problem)

    relief = least_relief(goal.ceilings, large_pods(goal.ceilings))

    assert sorted(node for nodes in relief.places.values() for node in nodes) == [2, 3]

"""Balancing under limits on moves: nodes that take the fewest moves are relieved."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import BalanceUtilization, Limits, MaxSkew, MoveLimit, Problem, Solution, make_problem, solve


def three_hot_nodes(*limits: MoveLimit, cost: list[int] | None = None) -> Problem:
    """Nodes 0, 1 and 2 hold 10 of 10 in pods of 1, 2 and 3, so that 3, 2 and 1 of them have to leave for node 3."""
    sizes = [1] * 10 + [2] * 5 + [3, 3, 3, 1]
    nodes = [0] * 10 + [1] * 5 + [2] * 4
    return make_problem([[size] for size in sizes], [[10]] * 3 + [[40]], nodes, rules=limits, cost=cost)


def total(most: int, pods: int = 19) -> MoveLimit:
    return MoveLimit(np.zeros(pods, np.int64), np.array([most]))


def balanced(problem: Problem) -> Solution:
    ceiling = np.array([[7], [7], [7], [30]])
    return solve(problem, BalanceUtilization(ceiling), Limits(work=2.0))


def test_without_limits_all_are_relieved() -> None:
    plan = balanced(three_hot_nodes())

    assert plan.value == plan.bound == (0, 6)


def test_a_limit_goes_to_the_nodes_that_take_the_fewest_moves() -> None:
    plan = balanced(three_hot_nodes(total(3)))

    assert plan.value == plan.bound == (1, 3)
    assert {move.source for move in plan.moves} == {1, 2}


def test_bound_says_that_no_node_can_be_relieved_within_the_limits_of_each() -> None:
    """Two pods a node at most: node 0 needs three."""
    by_node = MoveLimit(np.array([0] * 10 + [1] * 5 + [2] * 4), np.array([2, 2, 2]))

    plan = balanced(three_hot_nodes(by_node))

    assert plan.value == plan.bound == (1, 3)


def test_fewest_moves_count_within_a_limit_and_not_the_cheapest() -> None:
    """The pod of 3 on node 2 that would do alone is dear; the limit is for one move of each node all the same."""
    cost = [1] * 15 + [9, 9, 9, 1]

    plan = balanced(three_hot_nodes(total(1), cost=cost))

    assert plan.value == (2, 9)
    assert {move.source for move in plan.moves} == {2}


def test_pods_without_another_node_are_in_no_bound() -> None:
    """Both pods of 4 may run on node 0 alone, so the two of 2 have to leave; only one of 4 is the cheapest cover."""
    problem = make_problem(
        [[4], [4], [2], [2]],
        [[12], [12]],
        [0, 0, 0, 0],
        pod_class=[0, 0, 1, 1],
        allowed=[[True, False], [True, True]],
    )

    plan = solve(problem, BalanceUtilization(np.array([[8], [8]])), Limits(work=2.0))

    assert plan.value == plan.bound == (0, 2)


def test_pods_that_are_larger_than_what_stays_elsewhere_leaves_are_in_no_bound() -> None:
    """Node 1 has room for 4 beside its pinned pod, so the pod of 5 stays and two of 2 leave."""
    problem = make_problem([[5], [2], [2], [2], [6]], [[12], [10]], [0, 0, 0, 0, 1], evictable=[True] * 4 + [False])

    plan = solve(problem, BalanceUtilization(np.array([[8], [10]])), Limits(work=2.0))

    assert plan.bound == (0, 2)


def test_pods_whose_limit_is_used_up_are_in_no_bound() -> None:
    used_up = MoveLimit(np.array([0, 0, -1, -1]), np.array([0]))
    problem = make_problem([[4], [4], [2], [2]], [[12], [12]], [0, 0, 0, 0], rules=[used_up])

    plan = solve(problem, BalanceUtilization(np.array([[8], [8]])), Limits(work=2.0))

    assert plan.value == plan.bound == (0, 2)


def test_limits_count_in_total_in_the_bound() -> None:
    """One workload has a pod of 4 on each of two nodes and may lose one of them: the other node loses two of 2."""
    workload = MoveLimit(np.array([0, -1, -1, 0, -1, -1]), np.array([1]))
    problem = make_problem([[4], [2], [2], [4], [2], [2]], [[8], [8], [20]], [0, 0, 0, 1, 1, 1], rules=[workload])

    plan = solve(problem, BalanceUtilization(np.array([[4], [4], [20]])), Limits(work=2.0))

    assert plan.value == plan.bound == (0, 3)


def test_pods_that_no_node_has_room_for_take_the_place_of_others_in_the_bound() -> None:
    """The pod of 6 finds room where the one of 3 leaves; else both of 2 leave: two evictions, and not one."""
    problem = make_problem([[6], [2], [2], [3], [1]], [[10], [10], [5]], [0, 0, 0, 1, 1])

    plan = solve(problem, BalanceUtilization(np.array([[7], [7], [5]])), Limits(work=2.0))

    assert plan.value == plan.bound == (0, 2)


def test_each_pod_that_no_node_has_room_for_takes_the_place_of_another_in_the_bound() -> None:
    """Nodes 0 and 1 have to lose a pod of 6, for which one of 5 leaves node 2, and another one leaves node 3."""
    problem = make_problem(
        [[6], [3], [6], [3], [5], [5]],
        [[9], [9], [9], [9], [10]],
        [0, 0, 1, 1, 2, 3],
        pod_class=[0, 1, 0, 1, 2, 2],
        allowed=[[True, True, True, True, False], [True, True, False, False, False], [True] * 5],
        evictable=[True, False, True, False, True, True],
    )

    plan = solve(problem, BalanceUtilization(np.array([[7]] * 4 + [[10]])), Limits(work=2.0))

    assert plan.value == plan.bound == (0, 4)


@pytest.mark.parametrize("num_zones", [3, pytest.param(20, id="most zones that the bound looks at")])
def test_spread_counts_in_the_bound(num_zones: int) -> None:
    """Where one pod would leave for the one of 6, zone 0 would have two of its group and zone 1 none.

    Zones from the fourth on have no nodes.
    """
    there = np.arange(num_zones).reshape(1, -1) < 3
    spread = MaxSkew(np.array([0, -1, -1, 0, -1, -1]), np.array([2, 0, 1, -1]), np.array([1]), there)
    problem = make_problem(
        [[6], [3], [5], [1], [3], [3]],
        [[10], [10], [10], [20]],
        [0, 0, 1, 1, 2, 2],
        pod_class=[0, 1, 1, 1, 1, 1],
        allowed=[[True, True, True, False], [True] * 4],
        evictable=[True, False, True, False, True, True],
        rules=[spread],
    )

    plan = solve(problem, BalanceUtilization(np.array([[7], [7], [7], [20]])), Limits(work=2.0))

    assert plan.value == plan.bound == (0, 3)


def test_the_model_of_the_bound_is_the_first_plan() -> None:
    """A pod of 6 in the place of each one of 5: single moves do not lead there."""
    sizes, nodes = [[6], [3]] * 10 + [[5]] * 10, [*np.repeat(np.arange(10), 2), *range(10, 20)]
    problem = make_problem(
        sizes,
        [[9]] * 20 + [[60]],
        nodes,
        pod_class=[0, 1] * 10 + [1] * 10,
        allowed=[[True] * 20 + [False], [True] * 21],
        evictable=[True, False] * 10 + [True] * 10,
    )

    plan = solve(problem, BalanceUtilization(np.array([[7]] * 20 + [[60]])), Limits(work=1e-9))

    assert plan.value == plan.bound == (0, 20)


def test_pods_that_fit_under_no_ceiling_are_in_no_bound() -> None:
    """The pod of 6 would bring node 1 over its ceiling, wherever the pod there goes; node 0 stays over its own."""
    problem = make_problem([[6], [3], [1]], [[10], [10]], [0, 0, 1], evictable=[True, False, True])

    plan = solve(problem, BalanceUtilization(np.array([[7], [5]])), Limits(work=2.0))

    assert plan.value == plan.bound == (1, 0)


def test_a_node_that_stays_over_its_ceiling_gets_no_pod() -> None:
    """Node 1 has a pod of 9 that stays, and room for 3 more: node 0 is over its ceiling for want of another node."""
    problem = make_problem([[4], [4], [9]], [[8], [12]], [0, 0, 1], evictable=[True, True, False])

    plan = solve(problem, BalanceUtilization(np.array([[5], [8]])), Limits(work=2.0))

    assert plan.value == plan.bound == (2, 0)


def test_no_pod_comes_to_a_node_that_is_still_over_its_ceiling() -> None:
    """The pod of 3 has room on node 0 beside all that is there, and under the ceiling once the first pod has left."""
    problem = make_problem([[4], [4], [5], [3], [3]], [[12]] * 3, [0, 0, 1, 1, 2], cost=[1, 9, 9, 1, 9])

    plan = solve(problem, BalanceUtilization(np.array([[7]] * 3)), Limits(work=2.0))

    assert [[(move.pod, move.target) for move in wave] for wave in plan.waves] == [[(0, 2)], [(3, 0)]]


def test_pods_that_would_have_to_change_places_at_their_ceilings_stay() -> None:
    """Either node is under its ceiling once the 4 and the 3 have changed places, and over it until then."""
    need, evictable = [[4], [2], [2], [3], [2], [2]], [1, 0, 0, 1, 0, 0]
    problem = make_problem(need, [[20], [20]], [0, 0, 0, 1, 1, 1], evictable=evictable)

    plan = solve(problem, BalanceUtilization(np.array([[7], [8]])), Limits(work=2.0))

    assert (plan.value, plan.moves) == ((1, 0), ())

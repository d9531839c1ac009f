"""ReduceCost: the sum of prices, what no plan saves more than, and which pods are moved for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from descheduler.optimizer import Limits, MoveLimit, Parts, Problem, ReduceCost, make_problem, solve
from descheduler.optimizer.arrangement import Arrangement

DEAR, CHEAP = 10.0, 4.0


def priced(rate: list[float]) -> ReduceCost:
    """Of one resource."""
    return ReduceCost(np.array(rate)[:, None])


def two_tiers(*sizes: int, room: int, **facts: Any) -> Problem:
    """Pods of such sizes on a dear node, and so much room on a cheap one."""
    return make_problem([[size] for size in sizes], [[99], [room]], [0] * len(sizes), **facts)


def bound_of(problem: Problem) -> int:
    """What is paid at least."""
    return priced([DEAR, CHEAP]).prepare(problem).bound()[0]


def test_prices_are_need_times_rate_in_whole_numbers_and_moves_cost_beside() -> None:
    """Pod 2 is pending and costs nothing."""
    problem = make_problem([[1, 2], [3, 1], [9, 9]], [[99, 99]] * 2, [0, 1, -1], cost=[5, 7, 9])
    goal = ReduceCost(np.array([[1.2, 0.5], [0.4, 0.1]])).prepare(problem)

    assert goal.value(problem.assignment) == (2 + 1, 0)
    assert goal.value(np.array([1, 0, -1])) == (1 + 4, 12)
    assert goal.value(np.array([0, 1, 0])) == (2 + 1 + 15, 0)


@pytest.mark.parametrize(
    ("room", "least"),
    [
        pytest.param(0, 60, id="no room"),
        pytest.param(3, 41, id="room for the largest"),
        pytest.param(5, 29, id="room for two of them"),
        pytest.param(6, 24, id="room for all"),
    ],
)
def test_pods_save_as_far_as_cheaper_nodes_have_room(room: int, least: int) -> None:
    """Pods of 1, 2 and 3 pay 10 for each unit, and 4 where it is cheap; fractions of pods are rounded by one."""
    assert bound_of(two_tiers(1, 2, 3, room=room)) == least


@pytest.mark.parametrize(("most", "least"), [(0, 60), (1, 41), (2, 29), (3, 24), (9, 24)])
def test_a_limit_of_all_moves_counts_in_the_bound(most: int, least: int) -> None:
    limit = MoveLimit(np.zeros(3, np.int64), np.array([most]))

    assert bound_of(two_tiers(1, 2, 3, room=99, rules=[limit])) == least


def test_a_limit_of_some_pods_keeps_those_alone_that_it_lets_none_of_go() -> None:
    some = MoveLimit(np.array([-1, 0, 0]), np.array([0]))

    assert bound_of(two_tiers(1, 2, 3, room=99, rules=[some])) == 54
    assert bound_of(two_tiers(1, 2, 3, room=99, rules=[MoveLimit(np.array([-1, 0, 0]), np.array([1]))])) == 24


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"evictable": [True, True, False]}, id="it is not evictable"),
        pytest.param({"pod_class": [0, 0, 1], "allowed": [[True, True], [True, False]]}, id="its class is not allowed"),
    ],
)
def test_a_pod_that_cannot_go_saves_nothing(facts: Any) -> None:
    assert bound_of(two_tiers(1, 2, 3, room=99, **facts)) == 42


def test_a_pod_that_is_larger_than_the_cheap_node_saves_nothing() -> None:
    problem = make_problem([[5], [2]], [[99], [4], [99]], [0, 0])

    assert priced([DEAR, CHEAP, DEAR]).prepare(problem).bound()[0] == 50 + 8


def test_dear_nodes_and_equal_ones_save_nothing() -> None:
    problem = make_problem([[5], [2]], [[99]] * 3, [0, 0])

    assert priced([DEAR, DEAR, 11.0]).prepare(problem).bound() == (70, 0)


def test_what_leaves_a_middle_tier_makes_room_there() -> None:
    """The dear pod may not go to the cheap node, but takes the place of the one on the middle node, which may."""
    problem = make_problem(
        [[4], [4]],
        [[9], [4], [4]],
        [0, 1],
        pod_class=[0, 1],
        allowed=[[True, True, False], [True, True, True]],
    )

    plan = solve(problem, priced([DEAR, 6.0, CHEAP]), Limits(work=1.0))

    assert plan.value == (24 + 16, 2)
    assert plan.bound[0] == 40


def test_of_plans_that_save_the_same_the_cheapest_moves_are_made() -> None:
    """There is room for one of two equal pods."""
    plan = solve(two_tiers(3, 3, room=3, cost=[7, 2]), priced([DEAR, CHEAP]), Limits(work=1.0))

    assert (plan.value, plan.assignment.tolist()) == ((42, 2), [0, 1])


def test_a_move_that_saves_nothing_is_not_made() -> None:
    plan = solve(make_problem([[3], [1]], [[9], [9]], [0, 1]), priced([DEAR, DEAR]), Limits(work=1.0))

    assert (plan.moves, plan.value) == ((), (40, 0))


def test_pending_pods_stay_pending() -> None:
    problem = make_problem([[3], [2]], [[9], [9]], [-1, 0])

    plan = solve(problem, priced([DEAR, CHEAP]), Limits(work=1.0))

    assert plan.assignment.tolist() == [-1, 1]


def test_pods_go_home_that_save_nothing_where_they_are() -> None:
    """Pod 0 is on an equal node, pod 1 on a dearer one, and pod 3 on an equal one, but pod 4 has taken its room."""
    problem = make_problem([[1], [1], [1], [5], [7]], [[9], [9], [20], [9]], [0, 3, 0, 3, 1])
    goal, placement = priced([DEAR, DEAR, CHEAP, CHEAP]).prepare(problem), Arrangement(problem)
    for pod, node in ((0, 1), (1, 0), (2, 2), (3, 2), (4, 3)):
        placement.move(pod, node)

    goal.tidy(placement)

    assert placement.at.tolist() == [0, 3, 2, 2, 3]


@pytest.mark.parametrize("num_pods", [1, 5, 60])
def test_pieces_have_pods_with_a_cheaper_tier_and_nodes_of_it(num_pods: int) -> None:
    """Pods 0 to 9 pay most; those of the middle tier may save, too; pods 20 to 29 are where it is cheapest."""
    tiers = np.repeat([0, 1, 2], 10)
    problem = make_problem([[1]] * 30, [[9]] * 30, np.arange(30), evictable=np.arange(30) != 3)
    goal = priced([(DEAR, 6.0, CHEAP)[tier] for tier in tiers.tolist()]).prepare(problem)

    rng = np.random.default_rng(0)
    pieces = [goal.neighbourhood(Arrangement(problem), rng, num_pods) for _ in range(20)]

    for piece in pieces:
        assert piece is not None
        assert set(piece.pods.tolist()) <= set(range(20)) - {3}
        assert len(piece.pods) == min(max(1, int(num_pods * 0.6)), 19)
        assert set(piece.pods.tolist()) <= set(piece.nodes.tolist())
        targets = set(piece.nodes.tolist()) - set(piece.pods.tolist())
        assert all(tiers[node] > 0 for node in targets)
        assert len(targets) <= max(4, num_pods // 12)


def test_pieces_have_the_guests_of_their_nodes_with_the_nodes_that_they_came_from() -> None:
    problem = make_problem([[1]] * 4, [[9]] * 4, [0, 0, 1, -1])
    placement = Arrangement(problem)
    for pod, node in ((2, 3), (3, 3)):
        placement.move(pod, node)

    piece = priced([DEAR, 6.0, DEAR, CHEAP]).prepare(problem).neighbourhood(placement, np.random.default_rng(0), 60)

    assert piece is not None
    assert piece.pods.tolist() == [0, 1, 2, 3]
    assert piece.nodes.tolist() == [0, 1, 3]


def test_there_is_no_piece_where_nobody_can_save() -> None:
    problem = make_problem([[1], [1], [1]], [[9]] * 2, [1, 0, -1], evictable=[True, False, True])

    assert (
        priced([DEAR, CHEAP]).prepare(problem).neighbourhood(Arrangement(problem), np.random.default_rng(0), 9) is None
    )


def test_rates_must_be_of_the_nodes_and_not_below_0() -> None:
    problem = make_problem([[1]], [[9], [9]], [0])
    assert priced([0.0, 1.0]).prepare(problem).value(problem.assignment) == (0, 0)

    with pytest.raises(ValueError, match=r"rate: shape \(1, 1\), expected \(2, 1\)"):
        priced([1.0]).prepare(problem)
    with pytest.raises(ValueError, match=r"rate: -1\.0 is below 0"):
        priced([1.0, -1.0]).prepare(problem)
    with pytest.raises(ValueError, match="ReduceCost needs nodes with capacity of their own"):
        ReduceCost(np.ones((1, 1))).prepare(
            make_problem([[1]], Parts(np.array([[9]]), np.array([[0]]), np.array([0])), [0])
        )


def test_single_moves_follow_the_sum_of_prices_and_next_to_nothing_for_each_move() -> None:
    problem = make_problem([[1, 2], [3, 1]], [[9, 9]] * 2, [0, 1], cost=[5, 7])
    goal = ReduceCost(np.array([[1.2, 0.5], [0.4, 0.1]])).prepare(problem)
    nodes, pods = np.arange(2), np.arange(2)

    assert goal.node_cost(nodes, np.array([[1.0, 3.0], [2.0, 1.0]])).tolist() == pytest.approx([2.2, 1.3])
    assert goal.move_cost(pods, np.array([0, 0])).tolist() == pytest.approx([0.0, 7e-6])


def test_pods_that_have_moved_where_it_is_cheapest_are_in_no_piece() -> None:
    problem = make_problem([[1], [1]], [[9]] * 3, [0, 0])
    goal, placement = priced([DEAR, 6.0, CHEAP]).prepare(problem), Arrangement(problem)
    placement.move(0, 2)
    placement.move(1, 1)

    piece = goal.neighbourhood(placement, np.random.default_rng(0), 1)
    assert piece is not None
    assert 1 in piece.pods.tolist()

    placement.move(1, 2)
    assert goal.neighbourhood(placement, np.random.default_rng(0), 1) is None

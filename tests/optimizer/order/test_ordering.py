"""Waves: both ends hold a pod while it moves, and moves that wait for each other in a circle are blocked."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer import AtMost, Reassignment, Together, make_problem, replay
from descheduler.optimizer.order.ordering import order_moves


def test_moves_that_have_room_run_in_one_wave() -> None:
    problem = make_problem([[2], [2]], [[4], [4], [4]], [0, 0])

    ordered = order_moves(problem, np.array([1, 2]))

    assert ordered.waves == ((Reassignment(0, 0, 1), Reassignment(1, 0, 2)),)


def test_move_into_room_that_another_leaves_waits_for_the_next_wave() -> None:
    problem = make_problem([[3], [3]], [[4], [4], [4]], [0, 1])

    ordered = order_moves(problem, np.array([1, 2]))

    assert ordered.waves == ((Reassignment(1, 1, 2),), (Reassignment(0, 0, 1),))


def test_circle_without_a_third_node_is_blocked() -> None:
    problem = make_problem([[3], [3]], [[4], [4]], [0, 1])

    ordered = order_moves(problem, np.array([1, 0]))

    assert (ordered.waves, ordered.blocked, ordered.assignment.tolist()) == ((), (0, 1), [0, 1])


def test_pending_pod_waits_where_a_circle_needs_its_room() -> None:
    problem = make_problem([[4], [3], [3]], [[4], [7]], [-1, 0, 1])

    ordered = order_moves(problem, np.array([1, 1, 0]))

    assert [(move.pod, move.target) for wave in ordered.waves for move in wave] == [(1, 1), (2, 0), (0, 1)]
    assert ordered.blocked == ()


def test_anti_affine_pod_waits_until_the_other_has_left() -> None:
    rule = AtMost(np.zeros(2, np.int64), np.arange(3), np.array([1]))
    problem = make_problem([[1], [1]], [[9], [9], [9]], [0, 1], rules=[rule])

    ordered = order_moves(problem, np.array([1, 2]))

    assert ordered.waves == ((Reassignment(1, 1, 2),), (Reassignment(0, 0, 1),))


def test_pod_arrives_after_the_company_that_it_needs() -> None:
    rule = Together(np.array([0, 1]), np.arange(2), np.array([[0, 1]]))
    problem = make_problem([[1], [1]], [[9], [9]], [-1, 0], rules=[rule])

    ordered = order_moves(problem, np.array([1, 1]))

    assert [move.pod for wave in ordered.waves for move in wave] == [1, 0]


def test_replay_names_a_node_that_holds_too_much_meanwhile() -> None:
    problem = make_problem([[3], [3]], [[4], [4], [4]], [0, 1])

    faults = replay(problem, [[Reassignment(1, 1, 2), Reassignment(0, 0, 1)]], np.array([1, 2]))

    assert faults == ["wave 0: node 1 holds 6 of resource 0, capacity 4"]


def test_replay_names_a_pod_that_is_pinned_or_not_where_the_plan_says() -> None:
    problem = make_problem([[1], [1]], [[4], [4]], [0, 1], evictable=[False, True])

    faults = replay(problem, [[Reassignment(0, 0, 1), Reassignment(1, 0, 0)]], np.array([1, 0]))

    assert faults == ["wave 0: pod 0 is not evictable", "wave 0: pod 1 is on node 1, not 0"]


def test_replay_names_rules_that_get_worse_and_none_that_stay_broken() -> None:
    rule = AtMost(np.zeros(3, np.int64), np.arange(3), np.array([1]))
    problem = make_problem([[1]] * 3, [[9]] * 3, [0, 0, 1], rules=[rule])

    assert replay(problem, [[Reassignment(0, 0, 2)]], np.array([2, 0, 1])) == []
    assert replay(problem, [[Reassignment(0, 0, 1)]], np.array([1, 0, 1])) == [
        "wave 0: group 0 has too many pods in domain 1 meanwhile",
        "wave 0: AtMost broken for (0, 1, 1)",
    ]


def test_replay_counts_pods_of_a_group_in_domains_alone() -> None:
    """Pods 1 and 2 are of no group, and node 2 is in no domain."""
    rule = AtMost(np.array([0, -1, -1, 0]), np.array([0, 1, -1]), np.array([1]))
    problem = make_problem([[1]] * 4, [[9]] * 3, [0, 0, 0, 1], rules=[rule])
    wave = [Reassignment(1, 0, 1), Reassignment(2, 0, 1), Reassignment(0, 0, 2), Reassignment(3, 1, 2)]

    assert replay(problem, [wave], np.array([2, 1, 1, 2])) == []


def test_a_move_waits_that_would_take_the_room_that_a_circle_of_others_needs() -> None:
    """Pod 0 fits node 2 at once, but then pod 1 does not, which has to make way for pod 2."""
    problem = make_problem(need=[[2], [2], [4]], capacity=[[2], [4], [6]], assignment=[0, 1, 2])

    ordered = order_moves(problem, np.array([2, 2, 1]))

    assert (ordered.blocked, [[move.pod for move in wave] for wave in ordered.waves]) == ((), [[1], [2], [0]])


def test_so_it_does_among_many_other_moves() -> None:
    others = 100
    problem = make_problem(
        need=[[2], [2], [4], *[[1]] * others],
        capacity=[[2], [4], [6], [others], [others]],
        assignment=[0, 1, 2, *[3] * others],
    )

    ordered = order_moves(problem, np.array([2, 2, 1, *[4] * others]))

    assert (ordered.blocked, [[move.pod for move in wave if move.pod < 3] for wave in ordered.waves]) == (
        (),
        [[1], [2], [0]],
    )


def test_pending_pods_wait_for_many_circles_that_need_their_room() -> None:
    """Each time pods of 3 change places by the room of 4 that a pending pod is to have, as above."""
    circles = 30
    problem = make_problem(
        [[4], [3], [3]] * circles,
        [[4], [7]] * circles,
        [place for circle in range(circles) for place in (-1, 2 * circle, 2 * circle + 1)],
    )

    ordered = order_moves(problem, np.array([2 * circle + end for circle in range(circles) for end in (1, 1, 0)]))

    assert (ordered.blocked, len(ordered.waves)) == ((), 3)

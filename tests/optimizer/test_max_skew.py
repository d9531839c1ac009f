"""Topology spread as a rule that counts pods as they are moved."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer import Limits, MaxSkew, Problem, RepairViolations, make_problem, replay, solve
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.order.waves import Reassignment

ZONE = np.array([0, 0, 1, 1, 2, 2])


def spread_problem(assignment: list[int], *, skew: int = 1, holds_first: bool = False) -> Problem:
    """Six nodes in three zones, and pods that are spread over these."""
    group = np.zeros(len(assignment), np.int64)
    rule = MaxSkew(group, ZONE, np.array([skew]), np.ones((1, 3), bool), holds_first)
    return make_problem([[1]] * len(assignment), [[9]] * 6, assignment, rules=[rule])


def open_zones(placement: Arrangement, pod: int) -> list[int]:
    """The zones of the nodes other than its own that are open to a pod."""
    is_open = placement.open_moves(np.array([pod]), np.arange(6))[0]
    return sorted(set(ZONE[is_open].tolist()))


def test_what_is_open_follows_from_the_counts_as_pods_are_moved() -> None:
    placement = Arrangement(spread_problem([0, 0, 2, 4]))
    assert [open_zones(placement, pod) for pod in (0, 2, 3)] == [[0, 1, 2], [1], [2]]

    placement.move(0, 2)

    assert [open_zones(placement, pod) for pod in (1, 2, 3)] == [[0], [0, 1, 2], [2]]


def test_a_pod_counts_twice_where_room_is_held_before_it_leaves() -> None:
    """Zone 0 has 2 pods and the others 1: a third one is too many there while both are there."""
    placement = Arrangement(spread_problem([0, 0, 2, 4], holds_first=True))

    assert [open_zones(placement, pod) for pod in (0, 2)] == [[1, 2], [1]]


def test_a_pod_may_leave_the_emptiest_zone_where_the_skew_allows_it() -> None:
    assert open_zones(Arrangement(spread_problem([0, 2, 4], skew=2)), 0) == [0, 1, 2]


def test_a_zone_that_is_not_there_is_not_the_emptiest() -> None:
    rule = MaxSkew(np.zeros(2, np.int64), ZONE, np.array([1]), np.array([[True, True, False]]))
    problem = make_problem([[1]] * 2, [[9]] * 6, [0, 2], allowed=[[True] * 4 + [False] * 2], rules=[rule])

    assert open_zones(Arrangement(problem), 0) == [0]


def test_a_plan_rotates_pods_through_the_zones_one_at_a_time() -> None:
    """Nodes 1, 3 and 5 are closed to the pods on them, each of which can only go to the next zone."""
    problem = spread_problem([1, 3, 5, 0], holds_first=True)
    allowed = np.zeros((4, 6), bool)
    allowed[[0, 1, 2, 3], [2, 4, 0, 0]] = True
    rotated = make_problem(
        problem.need, problem.capacity, problem.assignment, pod_class=np.arange(4), allowed=allowed, rules=problem.rules
    )
    misplaced = np.array([1, 1, 1, 0])

    plan = solve(rotated, RepairViolations(misplaced), Limits(work=1.0))

    assert plan.assignment.tolist() == [2, 4, 0, 0]
    assert [len(wave) for wave in plan.waves] == [1, 1, 1]


def test_pods_of_a_group_move_together_where_no_order_makes_zones_uneven() -> None:
    """Zone 0 has 1 pod at least, and the others 2 at most."""
    problem = spread_problem([0, 0, 0, 2, 4], skew=3)
    allowed = np.zeros((5, 6), bool)
    allowed[[0, 1, 2, 3, 4], [2, 4, 1, 3, 5]] = True
    closed = make_problem(
        problem.need, problem.capacity, problem.assignment, pod_class=np.arange(5), allowed=allowed, rules=problem.rules
    )

    plan = solve(closed, RepairViolations(np.array([1, 1, 0, 0, 0])), Limits(work=1.0))

    assert [[move.pod for move in wave] for wave in plan.waves] == [[0, 1]]


def test_moves_that_end_in_an_order_that_makes_zones_uneven_are_a_fault_of_the_replay() -> None:
    problem = spread_problem([0, 0, 2, 4])
    wave = [Reassignment(0, 0, 1), Reassignment(1, 0, 1)]

    assert replay(problem, [wave], np.array([1, 1, 2, 4])) == ["wave 0: domain 0 may have too many pods of group 0"]


def test_a_domain_that_takes_no_more_while_the_pod_is_there_is_a_fault_of_the_replay() -> None:
    problem = spread_problem([0, 0, 2, 4], holds_first=True)

    assert replay(problem, [[Reassignment(0, 0, 1)]], np.array([1, 0, 2, 4])) == [
        "wave 0: domain 0 may have too many pods of group 0"
    ]


def test_a_move_that_makes_zones_uneven_is_a_fault_of_the_replay() -> None:
    problem = spread_problem([0, 2, 4])

    assert replay(problem, [[Reassignment(0, 0, 2)]], np.array([2, 2, 4])) == [
        "wave 0: domain 1 may have too many pods of group 0",
        "wave 0: MaxSkew broken for (0, 1, 1)",
    ]


def test_pods_that_are_none_of_the_problem_s_count() -> None:
    """With those, zones 1 and 2 have 2 pods and 1 where zone 0 has 1; else none, where zone 0 has 2."""

    def open_with(others: list[int]) -> list[int]:
        one = np.ones((1, 3), bool)
        rule = MaxSkew(np.zeros(1, np.int64), ZONE, np.array([1]), one, others=np.array([others]))
        return open_zones(Arrangement(make_problem([[1]], [[9]] * 6, [0], rules=[rule])), 0)

    assert open_with([0, 2, 1]) == [0]
    assert open_with([1, 0, 1]) == [0, 1]


def free_problem() -> Problem:
    """Pod 2 counts in its zone and may go anywhere."""
    group, free = np.zeros(3, np.int64), np.array([False, False, True])
    rule = MaxSkew(group, ZONE, np.array([1]), np.ones((1, 3), bool), free=free)
    return make_problem([[1]] * 3, [[9]] * 6, [0, 2, 4], rules=[rule])


def test_a_pod_that_is_not_held_to_the_spread_goes_anywhere_and_counts_there() -> None:
    placement = Arrangement(free_problem())
    assert [open_zones(placement, pod) for pod in (0, 2)] == [[0], [0, 1, 2]]

    placement.move(2, 0)

    assert [open_zones(placement, pod) for pod in (0, 1)] == [[0, 2], [1, 2]]


def test_a_pod_that_is_not_held_to_the_spread_may_make_zones_uneven() -> None:
    assert replay(free_problem(), [[Reassignment(2, 4, 0)]], np.array([0, 2, 0])) == []


def test_others_make_room_where_a_pod_can_go_no_further_within_its_zone() -> None:
    """Zone 1 has 2 pods more than zone 0. Node 2 is in zone 1, too: both pods would count there for a while."""
    group, zone = np.array([0, 0, 0, 0, -1]), np.array([0, 1, 1, 0])
    rule = MaxSkew(group, zone, np.array([1]), np.ones((1, 2), bool), holds_first=True)
    problem = make_problem([[1]] * 5, [[1], [3], [1], [1]], [1, 1, 1, 3, 0], rules=[rule])

    plan = solve(problem, RepairViolations(np.array([1, 0, 0, 0, 0])), Limits(work=1.0))

    assert plan.value == (0, 2)
    assert plan.assignment.tolist() == [0, 1, 1, 3, 2]

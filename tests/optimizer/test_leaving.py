"""Which pods can leave their node at all: what is said to stay stays in every plan."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import MoveLimit, make_problem
from descheduler.optimizer.leaving import can_leave, fits_elsewhere
from tests.optimizer.tiny import every_assignment, is_feasible, random_parts_problem, random_problem


def limit(*groups: int, most: int) -> MoveLimit:
    return MoveLimit(np.array(groups), np.array([most]))


@pytest.mark.parametrize(
    ("most", "leaves"), [pytest.param(-1, False, id="overdrawn"), pytest.param(0, False, id="none"), (1, True)]
)
def test_a_pod_leaves_only_where_its_limit_lets_one_go(most: int, leaves: bool) -> None:
    problem = make_problem([[1], [1]], [[9], [9]], [0, 0], rules=[limit(0, -1, most=most)])

    assert can_leave(problem).tolist() == [leaves, True]


@pytest.mark.parametrize(("size", "leaves"), [(4, True), (5, False)])
def test_a_pod_leaves_where_another_node_has_room_beside_what_stays_there(size: int, leaves: bool) -> None:
    problem = make_problem([[size], [5], [3]], [[9], [9]], [0, 1, 1], evictable=[True, False, True])

    assert can_leave(problem).tolist() == [leaves, False, True]


@pytest.mark.parametrize(
    ("size", "leaves"), [pytest.param(6, True, id="it fits node 1"), pytest.param(7, False, id="it fits nowhere else")]
)
def test_a_pod_that_turns_out_to_stay_takes_the_room_of_others(size: int, leaves: bool) -> None:
    """Where pod 0 stays, node 0 has no room for pod 1; then node 1 has none for pod 2, either."""
    problem = make_problem([[size], [5], [4]], [[9], [6], [4]], [0, 1, 2])

    assert can_leave(problem).tolist() == [leaves] * 3


def test_neither_pending_pods_nor_those_without_another_allowed_node_leave() -> None:
    problem = make_problem([[1]] * 3, [[9]] * 2, [-1, 0, 0], pod_class=[0, 0, 1], allowed=[[True, False], [True, True]])

    assert can_leave(problem).tolist() == [False, False, True]


def test_what_a_pod_does_not_need_may_be_overdrawn_where_it_goes() -> None:
    problem = make_problem([[1, 0], [1, 1]], [[9, 9], [9, 9]], [0, 0])

    assert fits_elsewhere(problem, np.array([[9, 9], [1, -5]])).tolist() == [True, False]


def test_only_the_nodes_that_are_asked_about_count() -> None:
    problem = make_problem([[1], [1]], [[9]] * 3, [0, 1])

    assert fits_elsewhere(problem, problem.capacity, np.array([True, False, False])).tolist() == [False, True]


def test_nodes_that_share_parts_are_refused() -> None:
    with pytest.raises(ValueError, match="can_leave needs nodes with capacity of their own"):
        can_leave(random_parts_problem(np.random.default_rng(0)))


@pytest.mark.parametrize("seed", range(12))
def test_no_feasible_assignment_moves_a_pod_that_is_said_to_stay(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed))
    stays = ~can_leave(problem)

    for at in every_assignment(problem):
        if is_feasible(problem, at):
            assert not (stays & (at != problem.assignment)).any()

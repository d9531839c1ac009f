"""Which pods count as large, and how many kinds and pods of them are looked at."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import Problem, make_problem
from descheduler.optimizer.objectives.balance_utilization.ceilings import Ceilings
from descheduler.optimizer.objectives.balance_utilization.large_pods import LargePods, large_pods


def test_what_a_pod_does_not_need_may_be_used_up() -> None:
    """The pod of 6 needs none of the second resource, of which node 1 has nothing left; the pod of 3 may leave it."""
    problem = make_problem(
        [[6, 0], [3, 0], [3, 0], [2, 5]],
        [[10, 5], [8, 5]],
        [0, 0, 1, 1],
        evictable=[True, False, True, False],
    )

    large = large_pods(Ceilings(problem, np.array([[7, 5], [8, 5]])))

    assert large.pods[~large.has_room].tolist() == [0]
    assert large.capacity[~large.has_room].tolist() == [[0, 1]]


def test_a_pod_that_one_node_has_just_room_for_fits_somewhere() -> None:
    problem = make_problem([[4], [4], [3], [6]], [[10], [7], [9]], [0, 0, 1, 2])

    large = large_pods(Ceilings(problem, np.array([[7], [7], [7]])))

    assert large.fits_nowhere(np.arange(4)).tolist() == [False, False, False, True]


@pytest.mark.parametrize(("num_nodes", "is_large"), [(6, True), (7, False)])
def test_a_pod_that_many_nodes_have_room_for_is_not_large(num_nodes: int, is_large: bool) -> None:
    """The pod of 4 is on a node that is over its ceiling, and so many others are empty."""
    problem = make_problem([[4]], [[3]] + [[5]] * num_nodes, [0])

    large = large_pods(Ceilings(problem, problem.capacity))

    assert (len(large.pods) == 1) == is_large
    assert not large.fits_nowhere(np.arange(1)).any()


def test_pods_that_no_node_has_room_for_come_first_even_where_more_others_have_to_leave() -> None:
    """The pod of 9 fits node 2 once that of 3 has left. Those of 4 are on a node that is over its ceiling."""
    problem = make_problem([[4], [4], [9], [3]], [[10], [10], [10]], [0, 0, 1, 2])

    large = large_pods(Ceilings(problem, np.array([[5], [10], [10]])))

    assert large.pods.tolist() == [2, 0, 3]
    assert large.has_room.tolist() == [False, True, True]


def crowd(sizes: list[int], *, small: int = 0, on: int = 0) -> tuple[Problem, LargePods]:
    """A pod of each size on one of 50 nodes, each of which may have 450 and has more than 300: none has 150 left.

    There are so many `small` pods on a node, too. Node 50 is smaller than any but these.
    """
    at = [number % 50 for number in range(len(sizes))]
    need = [[size] for size in sizes] + [[0]] * small
    problem = make_problem(need, [[600]] * 50 + [[100]], at + [on] * small)
    return problem, large_pods(Ceilings(problem, np.array([[450]] * 50 + [[100]])))


def test_all_kinds_are_looked_at_up_to_5000_pairs_with_a_node() -> None:
    _, large = crowd(list(range(151, 251)))

    assert large.capacity.shape == (100, 51)
    assert large.nodes.tolist() == list(range(50))


def test_beyond_that_the_kinds_of_nodes_over_their_ceiling_are() -> None:
    """Of 101 kinds the one that is left out is on a node that is under its ceiling, where there is such a kind."""
    problem, large = crowd(list(range(151, 252)))

    is_over = problem.usage(problem.assignment)[:, 0] > 450
    left_out = np.flatnonzero(large.kind < 0)
    assert len(large.pods) == 100
    assert len(left_out) == 1
    assert not is_over[problem.assignment[left_out]].any()


@pytest.mark.parametrize(
    ("small", "on", "kinds"),
    [
        pytest.param(19_900, 0, 100, id="just as many"),
        pytest.param(19_901, 0, 0, id="one more"),
        pytest.param(20_001, 50, 100, id="pods of a node that none of them fits"),
    ],
)
def test_none_are_looked_at_where_more_than_20000_pods_can_leave_their_places(small: int, on: int, kinds: int) -> None:
    _, large = crowd(list(range(151, 251)), small=small, on=on)

    assert len(large.pods) == kinds

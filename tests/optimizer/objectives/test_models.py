"""What the solver makes of a piece of a problem, by the model of its objective."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import BalanceUtilization, Problem, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.cp_sat.solve import solve_neighbourhood
from descheduler.optimizer.objective import Neighbourhood, Objective


def solved(
    problem: Problem,
    objective: Objective,
    *,
    pods: list[int] | None = None,
    moved: tuple[tuple[int, int], ...] = (),
) -> list[int]:
    """Where pods are after a piece of `pods` (None: all evictable ones) on all nodes was solved. `moved` is before."""
    placement = Arrangement(problem)
    for pod, node in moved:
        placement.move(pod, node)
    piece = Neighbourhood(
        np.arange(problem.num_nodes), np.flatnonzero(problem.evictable) if pods is None else np.array(pods)
    )
    found = solve_neighbourhood(
        objective.prepare(problem), placement, piece, work_limit=5.0, seconds_limit=float("inf"), seed=0
    )
    assert found.was_closed
    for pod, node in found.changes:
        placement.move(pod, node)
    at: list[int] = placement.at.tolist()
    return at


def balanced(
    problem: Problem, *most: int, pods: list[int] | None = None, moved: tuple[tuple[int, int], ...] = ()
) -> list[int]:
    ceiling = np.repeat(np.array(most)[:, None], problem.num_resources, axis=1)
    return solved(problem, BalanceUtilization(ceiling), pods=pods, moved=moved)


@pytest.mark.parametrize(
    ("costs", "at"),
    [
        pytest.param([1, 1, 1], [0, 1, 0], id="the smaller one of those that do"),
        pytest.param([1, 2, 1], [1, 0, 0], id="the cheaper one"),
        pytest.param([5, 5, 2], [0, 1, 0], id="two of them are dearer than one"),
    ],
)
def test_balancing_moves_the_cheapest_pods_and_of_these_the_smallest(costs: list[int], at: list[int]) -> None:
    """Of pods of 4, 3 and 2, 3 have to leave."""
    problem = make_problem([[4], [3], [2]], [[10], [10]], [0, 0, 0], cost=costs)

    assert balanced(problem, 6, 10) == at


def test_pods_outside_a_piece_that_have_left_count_for_their_node() -> None:
    """Two of three pods have to leave node 0. Pod 0 has, and is no part of the piece."""
    problem = make_problem([[2], [2], [2], [4]], [[10], [12]], [0, 0, 0, 0], evictable=[True, True, True, False])

    at = balanced(problem, 6, 12, pods=[1, 2], moved=((0, 1),))

    assert at[0] == 1
    assert sorted(at[1:3]) == [0, 1]


def test_a_node_that_no_pods_relieve_stays_as_it_is() -> None:
    """Pods of 1 leave node 0 for nothing; pod 2 relieves node 1."""
    problem = make_problem([[1], [9], [4], [4]], [[10]] * 3, [0, 0, 1, 1], evictable=[True, False, True, False])

    assert balanced(problem, 7, 7, 7) == [0, 0, 2, 1]


def test_a_pod_that_fits_nowhere_keeps_its_node_over_its_ceiling() -> None:
    problem = make_problem([[4], [1]], [[10], [3]], [0, 0])

    assert balanced(problem, 3, 3) == [0, 0]


def test_pods_of_other_nodes_do_not_relieve_a_node() -> None:
    """Of node 0 only pod 0 may leave, and it is enough; it costs 3, for which none of node 1 has to leave."""
    problem = make_problem(
        [[3], [7], [1]], [[10], [10], [10]], [0, 0, 1], cost=[3, 1, 1], evictable=[True, False, True]
    )

    assert balanced(problem, 7, 7, 7) in ([1, 0, 1], [2, 0, 1])


def test_pending_pods_stay_pending_where_nodes_are_balanced() -> None:
    problem = make_problem([[3], [6], [1]], [[10], [10]], [0, 0, -1])

    at = balanced(problem, 7, 7)

    assert at[:2] in ([1, 0], [0, 1])

"""RepairViolations: misplaced pods leave their node, and others make room for them where that helps."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import (
    AtMost,
    Limits,
    MoveLimit,
    Problem,
    RepairViolations,
    Solution,
    make_problem,
    replay,
    solve,
)
from descheduler.optimizer.arrays import Ints


def moves(problem: Problem, weight: list[int] | Ints, *, work: float = 0.2) -> Solution:
    return solve(problem, RepairViolations(np.asarray(weight)), Limits(work=work))


def test_a_misplaced_pod_goes_to_another_node_and_others_stay() -> None:
    problem = make_problem(need=[[2], [2], [2]], capacity=[[6], [6]], assignment=[0, 0, 0])

    plan = moves(problem, [0, 1, 0])

    assert [(move.pod, move.target) for move in plan.moves] == [(1, 1)]
    assert (plan.value, plan.bound) == ((0, 1), (0, 1))


def test_another_pod_makes_room_where_the_only_allowed_node_is_full() -> None:
    """Pod 0 may run on nodes 0 and 1, and node 1 has no room for it until pod 1 leaves."""
    problem = make_problem(
        need=[[3], [2], [2]],
        capacity=[[4], [4], [4]],
        assignment=[0, 1, 1],
        pod_class=[0, 1, 1],
        allowed=[[True, True, False], [True, True, True]],
    )

    plan = moves(problem, [1, 0, 0])

    assert plan.value[0] == 0
    assert {move.pod for move in plan.moves} == {0, 1, 2}
    assert plan.moves[-1].pod == 0


def test_pods_that_nothing_could_take_are_in_the_bound() -> None:
    """Pod 0 has to stay, pod 1 may run nowhere else, and pod 2 is larger than any other node."""
    problem = make_problem(
        need=[[1], [1], [5], [1]],
        capacity=[[8], [4]],
        assignment=[0, 0, 0, 0],
        evictable=[False, True, True, True],
        pod_class=[0, 1, 0, 0],
        allowed=[[True, True], [True, False]],
    )

    plan = moves(problem, [1, 2, 4, 8])

    assert (plan.value, plan.bound) == ((7, 1), (7, 1))


def test_the_weightiest_pods_move_where_a_limit_allows_few() -> None:
    problem = make_problem(
        need=[[1]] * 4,
        capacity=[[4], [4]],
        assignment=[0] * 4,
        rules=[MoveLimit(np.zeros(4, np.int64), np.array([2]))],
    )

    plan = moves(problem, [1, 3, 2, 1])

    assert sorted(move.pod for move in plan.moves) == [1, 2]


@pytest.mark.parametrize(
    ("weight", "limits", "value", "bound"),
    [
        pytest.param([1, 1, 1, 0], [MoveLimit(np.array([0, 0, 0, 0]), np.array([1]))], (2, 1), (2, 1), id="of all"),
        pytest.param(
            [2, 2, 2, 0], [MoveLimit(np.array([0, 0, 0, 0]), np.array([1]))], (4, 1), (4, 1), id="of a weight"
        ),
        pytest.param(
            [1, 1, 1, 0], [MoveLimit(np.array([0, 0, 1, 1]), np.array([1, 1]))], (1, 3), (1, 3), id="of two groups"
        ),
        pytest.param(
            [1, 1, 1, 0],
            [MoveLimit(np.array([0, 0, -1, -1]), np.array([0])), MoveLimit(np.array([-1, -1, 0, 0]), np.array([0]))],
            (3, 0),
            (2, 2),
            id="of the limit that keeps most",
        ),
        pytest.param([1, 3, 1, 0], [MoveLimit(np.array([0, 0, 0, 0]), np.array([1]))], (2, 4), (0, 7), id="of weights"),
    ],
)
def test_pods_that_a_limit_keeps_are_in_the_bound(
    weight: list[int], limits: list[MoveLimit], value: tuple[int, int], bound: tuple[int, int]
) -> None:
    """The first three pods leave node 0 for 1, 4 and 2."""
    problem = make_problem([[1]] * 4, [[9]] * 2, [0] * 4, cost=[1, 4, 2, 1], rules=limits)

    plan = moves(problem, weight)

    assert (plan.value, plan.bound) == (value, bound)


def test_a_pod_that_fits_as_it_is_needs_no_other_move() -> None:
    """Also where the problem is too large to be solved whole."""
    problem = _half_full_cluster(nodes=60, misplaced=30)

    plan = moves(problem, (np.arange(problem.num_pods) < 30).astype(np.int64))

    assert plan.value == plan.bound == (0, 30)


@pytest.mark.long
def test_room_is_made_in_a_cluster_that_is_too_large_to_be_solved_whole() -> None:
    """Ten large pods have to leave, and their pool of nodes has room for none of them before moves."""
    problem = _fragmented_pool(seed=1)

    plan = moves(problem, (np.arange(problem.num_pods) < 10).astype(np.int64), work=1.0)

    assert plan.value[0] == 0
    assert plan.value[1] <= 30
    assert replay(problem, plan.waves, plan.assignment) == []


def test_weights_must_be_of_the_pods_and_not_below_zero() -> None:
    problem = make_problem(need=[[1]], capacity=[[1]], assignment=[0])

    with pytest.raises(ValueError, match="expected"):
        RepairViolations(np.array([1, 1])).prepare(problem)
    with pytest.raises(ValueError, match="below 0"):
        RepairViolations(np.array([-1])).prepare(problem)


def _half_full_cluster(*, nodes: int, misplaced: int) -> Problem:
    rng = np.random.default_rng(3)
    need = rng.integers(1, 10, (nodes * 10, 2))
    assignment = np.arange(len(need)) % nodes
    assignment[:misplaced] = 0
    used = np.zeros((nodes, 2), np.int64)
    np.add.at(used, assignment, need)
    return make_problem(need, np.maximum(used, 110), assignment)


def _fragmented_pool(seed: int) -> Problem:
    """Pods 0-9 need 4 of 10 and may run on nodes 1-30, each of which has 3 left; their own node is to be emptied."""
    rng = np.random.default_rng(seed)
    nodes, filling = 41, 30
    need, at = [[4]] * 10, [0] * 10
    for node in range(1, filling + 1):
        sizes = rng.permutation([1, 1, 2, 3])
        need += [[int(size)] for size in sizes]
        at += [node] * 4
    for node in range(filling + 1, nodes):
        need += [[4], [4]]
        at += [node] * 2
    allowed = np.ones((2, nodes), bool)
    allowed[0, filling + 1 :] = False
    pod_class = np.where(np.arange(len(need)) < 10, 0, 1)
    return make_problem(need, [[40]] + [[10]] * (nodes - 1), at, pod_class=pod_class, allowed=allowed)


def test_a_pod_stays_beside_one_that_it_keeps_apart_from_where_more_pods_move_for_it() -> None:
    """The first plan moves the smallest pod, 0, to where pod 2 could go, which has to leave for pod 3."""
    apart = AtMost(group=np.array([0, 0, 0, -1]), domain=np.arange(3), limit=np.array([1]))
    problem = make_problem(
        need=[[1], [1], [4], [3]],
        capacity=[[10], [4], [4]],
        assignment=[0, 0, 1, 0],
        evictable=[True, False, True, True],
        pod_class=[0, 0, 0, 1],
        allowed=[[False, False, True], [False, True, False]],
        rules=[apart],
    )

    plan = solve(problem, RepairViolations(np.array([1, 0, 1, 1])), Limits(work=1.0))

    assert plan.value == (1, 2)
    assert plan.assignment.tolist() == [0, 0, 2, 1]


def test_a_plan_that_can_be_carried_out_is_found_where_fewer_moves_wait_for_each_other() -> None:
    """Pods 0 and 1 could change places, but neither has room first; a third pod leaves node 2 to one of them."""
    problem = make_problem(
        need=[[4], [4], [4]],
        capacity=[[4], [4], [4], [4]],
        assignment=[0, 1, 2],
        pod_class=[0, 1, 2],
        allowed=[[False, True, False, False], [True, False, True, False], [False, False, False, True]],
    )

    plan = solve(problem, RepairViolations(np.array([1, 1, 0])), Limits(work=1.0))

    assert (plan.value, plan.assignment.tolist()) == ((0, 3), [1, 2, 3])

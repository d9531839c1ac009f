"""A placement that changes move by move knows what is left of nodes, and which pods may go where now."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import AtMost, MoveLimit, Parts, Problem, make_problem
from descheduler.optimizer.arrangement import Arrangement
from tests.optimizer.tiny import is_feasible, random_parts_problem, random_problem


def opened(problem: Problem, *moves: tuple[int, int]) -> list[list[bool]]:
    """Of each pod whether each node is open to it once those moves are made."""
    placement = Arrangement(problem)
    for pod, node in moves:
        placement.move(pod, node)
    found: list[list[bool]] = placement.open_moves(np.arange(problem.num_pods), np.arange(problem.num_nodes)).tolist()
    return found


def test_a_node_is_open_up_to_its_last_unit() -> None:
    problem = make_problem([[3], [4], [6]], [[9], [9]], [0, 0, 1])

    assert opened(problem) == [[False, True], [False, False], [False, False]]


def test_what_a_pod_does_not_need_may_be_overdrawn() -> None:
    problem = make_problem([[0, 1], [1, 1], [5, 1]], [[9, 9], [3, 9]], [0, 0, 1])

    assert opened(problem)[:2] == [[False, True], [False, False]]


def test_a_pod_may_go_home_whatever_its_class_allows() -> None:
    problem = make_problem([[1]], [[9]] * 3, [0], allowed=[[False, True, False]])

    assert opened(problem, (0, 1)) == [[True, False, False]]


def test_what_moved_pods_hold_at_home_is_taken_there_from_others_but_not_from_themselves() -> None:
    """Pod 0 holds 6 of node 0, too; pod 3 was pending, and waits until all others have moved."""
    problem = make_problem([[6], [4], [3], [4]], [[9], [9], [9]], [0, 1, 2, -1], both_ends=[True])

    after = opened(problem, (0, 1))

    assert after == [[True, False, True], [False, False, True], [True, False, False], [True, False, True]]


def test_nothing_is_held_where_no_resource_is_held_at_both_ends() -> None:
    held = make_problem([[6, 1]], [[9, 9]] * 2, [0], both_ends=[False, True])
    placement, without = Arrangement(held), Arrangement(make_problem([[6]], [[9]] * 2, [0]))
    placement.move(0, 1)

    assert without.free_beside_moved is None
    assert placement.free_beside_moved is not None
    assert placement.free_beside_moved[1].tolist() == [8, 8]
    assert placement.free[1].tolist() == [9, 8]


def test_a_pod_leaves_its_machine_and_goes_back_to_its_own_node_alone() -> None:
    """Nodes 0 and 1 are of machine 0, nodes 2 and 3 of machine 1."""
    parts = Parts(np.full((4, 1), 9), np.arange(4)[:, None], np.array([0, 0, 1, 1]))
    problem = make_problem([[1], [1]], parts, [0, -1])

    assert opened(problem) == [[False, False, True, True], [True] * 4]
    assert opened(problem, (0, 2), (1, 3)) == [[True, False, False, False], [True, True, False, False]]


@pytest.mark.parametrize("seed", range(15))
def test_a_first_move_over_parts_is_open_wherever_its_end_is_feasible(seed: int) -> None:
    problem = random_parts_problem(np.random.default_rng(seed), pending=1)
    assert problem.parts is not None
    machine, is_open = problem.parts.machine, opened(problem)

    for pod in np.flatnonzero(problem.evictable).tolist():
        home = int(problem.assignment[pod])
        for node in range(problem.num_nodes):
            after = problem.assignment.copy()
            after[pod] = node
            leaves = home < 0 or machine[home] != machine[node]
            allowed = leaves and problem.allowed[problem.pod_class[pod], node]
            assert is_open[pod][node] == bool(allowed and is_feasible(problem, after)), (pod, node)


@pytest.mark.parametrize("seed", range(15))
def test_counts_kept_move_by_move_are_those_of_a_new_placement(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = (random_parts_problem if seed % 2 else random_problem)(rng, pending=1)
    placement = Arrangement(problem)
    pods, nodes = np.flatnonzero(problem.evictable), np.arange(problem.num_nodes)

    for pod in rng.choice(pods, 12).tolist():
        choices = [node for node in nodes.tolist() if placement.is_open(pod, node)]
        if choices:
            placement.move(pod, int(rng.choice(choices)))

        again = Arrangement(problem, placement.at)
        assert placement.open_moves(pods, nodes).tolist() == again.open_moves(pods, nodes).tolist()
        assert placement.may_leave(pods).tolist() == again.may_leave(pods).tolist()
        for left, counted in ((placement.free, again.free), (placement.free_beside_moved, again.free_beside_moved)):
            assert (left is None) == (counted is None)
            assert left is None or counted is None or left.tolist() == counted.tolist()
        for node in (-1, *nodes.tolist()):
            there = pods[placement.at[pods] == node].tolist()
            assert placement.evictable_on(node).tolist() == again.evictable_on(node).tolist() == there


def test_limits_of_moves_let_pods_leave_until_they_are_used_up() -> None:
    """Two pods of the first group may leave, and one of the second; pod 3 is in neither."""
    rules = [MoveLimit(np.array([0, 0, 0, -1]), np.array([2])), MoveLimit(np.array([-1, 0, 0, -1]), np.array([1]))]
    placement, pods = Arrangement(make_problem([[1]] * 4, [[9]] * 2, [0] * 4, rules=rules)), np.arange(4)

    assert placement.may_leave(pods).tolist() == [True] * 4
    placement.move(1, 1)
    assert placement.may_leave(pods[[0, 2, 3]]).tolist() == [True, False, True]
    placement.move(0, 1)
    assert placement.may_leave(pods[2:]).tolist() == [False, True]
    placement.move(1, 0)
    assert placement.may_leave(pods[1:]).tolist() == [True, True, True]


def test_other_rules_do_not_keep_pods_from_leaving() -> None:
    rule = AtMost(np.zeros(2, np.int64), np.array([0, 1]), np.array([1]))

    assert Arrangement(make_problem([[1]] * 2, [[9]] * 2, [0, 0], rules=[rule])).may_leave(np.arange(2)).all()


def test_shares_are_of_the_whole_node_and_below_0_where_it_is_overdrawn() -> None:
    placement = Arrangement(make_problem([[6, 0], [3, 1]], [[8, 4], [2, 0]], [0, 1]))

    assert placement.free_shares(np.array([0, 1])).tolist() == [[0.25, -0.5], [1.0, -1.0]]


def test_room_for_what_is_on_its_way_changes_by_itself() -> None:
    problem = make_problem([[2], [3]], [[9], [9]], [0, 1])
    placement = Arrangement(problem)

    room = placement.room_while_moving()
    room.take(1, placement.need[:, 0])

    assert (room.free.tolist(), placement.free.tolist()) == ([[7, 4]], [[7, 6]])


def test_so_it_does_over_parts() -> None:
    parts = Parts(np.full((2, 1), 9), np.array([[0, -1], [1, -1], [0, 1]]), np.array([0, 0, 0]))
    placement = Arrangement(make_problem([[2], [3]], parts, [0, 1]))

    room = placement.room_while_moving()
    assert room.free.tolist() == placement.free.tolist() == [[7, 6, 6]]
    room.take(2, placement.need[:, 0])

    assert (room.free.tolist(), placement.free.tolist()) == ([[5, 4, 4]], [[7, 6, 6]])


def test_a_placement_is_taken_back_to_any_other() -> None:
    problem = make_problem([[2], [3], [1]], [[9], [9]], [0, 1, -1])
    placement = Arrangement(problem)
    for pod, node in ((0, 1), (2, 0)):
        placement.move(pod, node)

    placement.reset(problem.assignment)

    assert (placement.at.tolist(), placement.free.tolist()) == ([0, 1, -1], [[7, 6]])

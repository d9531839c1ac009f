"""Devices of machines, what is stranded on them, and the single moves that leave less."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from descheduler.optimizer import (
    UNLIMITED,
    Limits,
    MoveLimit,
    Parts,
    Problem,
    ReduceFragmentation,
    ReduceGpuFragmentation,
    make_problem,
)
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.reduce_fragmentation import choose_dear_nodes
from descheduler.optimizer.objectives.reduce_gpu_fragmentation.fragments import Fragments, devices_of
from descheduler.optimizer.objectives.reduce_gpu_fragmentation.objective import Recreation

GPU = 1
"""The resource of tenths of a GPU, after cores."""


def hosts(need: Sequence[Sequence[int]], at: Sequence[int], **facts: Any) -> Problem:
    """Three hosts of 12 cores with two GPUs of 10 tenths: nodes 3h and 3h + 1 are one GPU of host h, the next both."""
    capacity = [[12, UNLIMITED]] * 3 + [[UNLIMITED, 10]] * 6
    taken = [
        row
        for host in range(3)
        for row in ([host, 3 + 2 * host, -1], [host, 4 + 2 * host, -1], [host, 3 + 2 * host, 4 + 2 * host])
    ]
    return make_problem(need, Parts(np.array(capacity), np.array(taken), np.repeat(np.arange(3), 3)), at, **facts)


def half_gpus() -> ReduceGpuFragmentation:
    """Pods of one core and a whole GPU, and such without a GPU."""
    return ReduceGpuFragmentation(GPU, np.array([[1, 10]]), np.array([1]), np.array([1]))


def test_devices_are_nodes_of_one_part_that_has_the_resource() -> None:
    problem = hosts([[1, 1]], [0])
    assert problem.parts is not None

    assert devices_of(problem.parts, GPU).tolist() == [[0, 1], [3, 4], [6, 7]]


def test_machines_with_fewer_devices_have_fewer_and_of_nodes_with_one_device_the_first_counts() -> None:
    """Nodes 1 and 2 are the same device; machine 1 has none, as its part has nothing of the resource."""
    parts = Parts(
        np.array([[UNLIMITED], [10], [10], [0]]), np.array([[0, 1], [0, 2], [2, -1], [3, -1]]), np.array([0, 0, 0, 1])
    )

    assert devices_of(parts, 0).tolist() == [[0, 1], [-1, -1]]


@pytest.mark.parametrize(
    ("left", "stranded"),
    [
        pytest.param([10, 10], 0, id="all can be used"),
        pytest.param([10, 4], 4, id="one is too small"),
        pytest.param([9, 4], 13, id="none is large enough"),
        pytest.param([-3, 4], 4, id="more is in use than there is"),
    ],
)
def test_what_is_idle_on_devices_with_less_than_a_pod_takes_is_stranded(left: list[int], stranded: int) -> None:
    fragments = Fragments(0, np.array([[10]]), np.array([1]), np.array([1]))

    assert fragments.of(np.array([[left]], dtype=float)).tolist() == [stranded]


def test_all_is_stranded_where_a_pod_finds_too_few_devices_or_none_of_its_host() -> None:
    """The pod takes two GPUs, and two cores of the host."""
    fragments = Fragments(GPU, np.array([[2, 5]]), np.array([2]), np.array([3]))

    def stranded(cores: int, *left: int) -> float:
        return float(fragments.of(np.array([[[cores] * len(left)], [left]], dtype=float))[0])

    assert stranded(2, 5, 5, 1) == 3 * 1
    assert stranded(2, 5, 4, 1) == 3 * 10
    assert stranded(1, 5, 5, 1) == 3 * 11


def test_classes_without_a_device_strand_all_that_is_idle() -> None:
    fragments = Fragments(0, np.array([[0], [4]]), np.array([0, 1]), np.array([2, 1]))

    assert fragments.of(np.array([[[4, 3]]], dtype=float)).tolist() == [2 * 7 + 3]
    assert fragments.least(np.array([[[4, 3], [-1, 2]]], dtype=float)) == 2 * 9
    assert [(need.tolist(), count, weight) for need, count, weight in fragments.classes()] == [([4], 1, 1)]
    assert fragments.of(np.zeros((1, 0, 2))).tolist() == []


def test_many_machines_are_counted_in_steps() -> None:
    classes = np.arange(1, 41)[:, None]
    fragments = Fragments(0, classes, np.ones(40, np.int64), np.ones(40, np.int64))
    free = np.random.default_rng(0).integers(0, 30, (1, 40_000, 4)).astype(float)

    found = fragments.of(free)

    some = np.random.default_rng(1).integers(0, 40_000, 200)
    assert found[some].tolist() == fragments.of(free[:, some]).tolist()


def descended(problem: Problem, objective: ReduceGpuFragmentation | None = None) -> list[int]:
    placement = Arrangement(problem)
    (objective or half_gpus()).prepare(problem).descent(placement).run(Budget(Limits(work=1.0)))
    found: list[int] = placement.at.tolist()
    return found


def test_pods_that_share_a_gpu_leave_whole_ones() -> None:
    """Two GPUs of different hosts are half used; either pod may go to the other one."""
    at = descended(hosts([[1, 5], [1, 5]], [0, 3]))

    assert at in ([3, 3], [0, 0])


@pytest.mark.parametrize("most", [0, 1])
def test_limits_keep_moves_that_would_gain(most: int) -> None:
    limit = MoveLimit(np.zeros(2, np.int64), np.array([most]))

    moved = np.array(descended(hosts([[1, 5], [1, 5]], [0, 3], rules=[limit]))) != [0, 3]

    assert int(moved.sum()) == most


def test_neither_pinned_pods_nor_those_that_their_class_keeps_move() -> None:
    pinned = hosts([[1, 5], [1, 5]], [0, 3], evictable=[True, False])
    narrow = np.ones((2, 9), bool)
    narrow[1, 3:] = False
    kept = hosts([[1, 5], [1, 5]], [0, 3], pod_class=[1, 0], allowed=narrow)

    assert descended(pinned) == [3, 3]
    assert descended(kept) == [0, 0]


def test_a_pod_that_gains_nothing_stays() -> None:
    assert descended(hosts([[1, 10], [1, 5]], [0, 3])) == [0, 3]


def test_cores_of_the_host_are_looked_at() -> None:
    """Host 1 has no core left for the pod of host 0, nor host 0 for that of host 1."""
    problem = hosts([[7, 5], [6, 5]], [0, 3])

    assert descended(problem) == [0, 3]


def test_pending_pods_are_none_of_its_business() -> None:
    assert descended(hosts([[1, 5], [1, 5]], [-1, 3])) == [-1, 3]


def test_more_is_tried_in_pieces_that_are_taken_back_until_the_budget_is_over() -> None:
    problem = hosts([[1, 5], [1, 5], [1, 4], [1, 4]], [0, 3, 6, 7])
    goal, placement = half_gpus().prepare(problem), Arrangement(problem)
    recreation, over = goal.annealing(placement, np.random.default_rng(0)), Budget(Limits(work=0.0))
    assert isinstance(recreation, Recreation)
    recreation.run(over, over, 1.0)
    assert (placement.at == problem.assignment).all()

    whole = Budget(Limits(work=0.5))
    recreation.run(whole, whole, 1.0)

    assert goal.value(placement.at)[0] < goal.value(problem.assignment)[0]
    again, left = placement.at.copy(), whole.spent
    recreation.run(whole, whole, 0.0)
    assert (placement.at.tolist(), whole.spent) == (again.tolist(), left)


def test_what_is_stranded_and_what_moves_cost_is_the_value_and_what_must_be_idle_the_bound() -> None:
    problem = hosts([[1, 5], [1, 5]], [0, 3], cost=[3, 4])
    without = dataclasses.replace(
        half_gpus(), classes=np.array([[1, 10], [1, 0]]), num_devices=np.array([1, 0]), weight=np.array([1, 2])
    )

    assert half_gpus().prepare(problem).value(problem.assignment) == (10, 0)
    assert half_gpus().prepare(problem).value(np.array([3, 3])) == (0, 3)
    assert half_gpus().prepare(problem).bound() == (0, 0)
    assert without.prepare(problem).value(problem.assignment) == (10 + 2 * 50, 0)
    assert without.prepare(problem).bound() == (100, 0)
    with pytest.raises(ValueError, match=r"classes: shape \(1, 1\), expected \('classes', 2\)"):
        dataclasses.replace(half_gpus(), classes=np.array([[1]])).prepare(problem)


@pytest.mark.parametrize(
    ("free", "stranded"),
    [
        pytest.param([[6, 9]], 0 * 3 + 2 * 2, id="by the one resource"),
        pytest.param([[6, 4]], 0 * 3 + 2 * 2, id="just enough of the other"),
        pytest.param([[6, 1]], 3 * 3 + 6 * 2, id="by the other resource"),
        pytest.param([[-2, 9]], 0, id="more is in use than there is"),
    ],
)
def test_whole_slots_of_each_class_leave_the_rest_stranded(free: list[list[int]], stranded: int) -> None:
    """Classes of 3 with 1 of the other resource, three times, and of 4 with 4, twice."""
    problem = make_problem([[0, 0], [2, 0]], np.maximum(np.array(free), 0), [0, 0])
    used = np.array(free)[0] - problem.capacity[0]
    problem = dataclasses.replace(problem, need=np.array([[0, 0], np.maximum(-used, 0)]))
    goal = ReduceFragmentation(0, np.array([[3, 1], [4, 4]]), np.array([3, 2])).prepare(problem)

    assert goal.value(problem.assignment) == (stranded, 0)


def test_what_the_cluster_would_strand_as_one_node_is_the_bound() -> None:
    """Nodes have 2 and 3 left, and one more than it has: pods of 3 use 3 of 5."""
    problem = make_problem([[1], [2], [9]], [[3], [5], [4]], [0, 1, 2])

    assert ReduceFragmentation(0, np.array([[3]])).prepare(problem).bound() == (2, 0)
    assert ReduceFragmentation(0, np.array([[3]])).prepare(problem).value(problem.assignment) == (2, 0)


def test_classes_need_some_of_what_is_counted() -> None:
    problem = make_problem([[1, 1]], [[9, 9]], [0])

    with pytest.raises(ValueError, match="one needs nothing of resource 0"):
        ReduceFragmentation(0, np.array([[1, 1], [0, 1]])).prepare(problem)
    with pytest.raises(ValueError, match=r"classes: shape \(1, 1\), expected \('classes', 2\)"):
        ReduceFragmentation(0, np.array([[1]])).prepare(problem)


def drawn(cost: list[float], *, first: tuple[int, ...] = (), num_pods: int = 4) -> list[set[int]]:
    """The nodes of some pieces: five nodes with two different pods each."""
    problem = make_problem([[number + 1] for number in range(10)], [[30]] * 5, np.repeat(np.arange(5), 2))
    placement, kind = Arrangement(problem), np.arange(10)
    firsts: Ints = np.array(first, dtype=np.int64)
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        piece = choose_dear_nodes(placement, np.array(cost), rng, num_pods, first=firsts, kind=kind)
        assert len(piece.pods) <= num_pods
        assert set(problem.assignment[piece.pods].tolist()) <= set(piece.nodes.tolist())
        found.append(set(piece.nodes.tolist()))
    return found


def test_pieces_have_as_many_nodes_as_have_so_many_pods_and_two_at_least() -> None:
    assert {len(nodes) for nodes in drawn([1.0] * 5, num_pods=4)} == {2}
    assert {len(nodes) for nodes in drawn([1.0] * 5, num_pods=7)} == {3}
    assert {len(nodes) for nodes in drawn([1.0] * 5, num_pods=1)} == {2}
    assert {len(nodes) for nodes in drawn([1.0] * 5, num_pods=99)} == {5}


def test_dear_nodes_are_in_pieces_more_often_after_those_that_come_first() -> None:
    dear = drawn([9.0, 0.0, 0.0, 0.0, 1.0])

    assert sum(0 in nodes for nodes in dear) > 180
    assert 20 < sum(1 in nodes for nodes in dear) < 100
    assert all({2, 3} == nodes for nodes in drawn([9.0, 0.0, 0.0, 0.0, 1.0], first=(2, 3)))


def test_pieces_of_shared_parts_are_whole_machines() -> None:
    problem = hosts([[1, 5], [1, 5], [1, 4]], [0, 3, 6])
    goal = ReduceFragmentation(GPU, np.array([[1, 10]])).prepare(problem)

    for seed in range(20):
        piece = goal.neighbourhood(Arrangement(problem), np.random.default_rng(seed), 2)
        assert piece is not None
        machines = {node // 3 for node in piece.nodes.tolist()}
        assert piece.nodes.tolist() == [node for node in range(9) if node // 3 in machines]


def test_moved_pods_may_be_in_a_piece_with_both_of_their_nodes() -> None:
    """Pod 0 came to node 1, which strands nothing, as node 0 does then."""
    problem = make_problem([[5], [5], [1]], [[10], [10], [10]], [0, 1, 2])
    goal, placement = ReduceFragmentation(0, np.array([[10]])).prepare(problem), Arrangement(problem)
    placement.move(0, 1)

    pieces = [goal.neighbourhood(placement, np.random.default_rng(seed), 2) for seed in range(40)]

    with_both = [piece for piece in pieces if piece is not None and {0, 1} <= set(piece.nodes.tolist())]
    assert len(with_both) > 20


def test_there_is_no_piece_where_nothing_is_stranded() -> None:
    problem = make_problem([[5], [5]], [[10], [10]], [0, 1])

    goal = ReduceFragmentation(0, np.array([[5]])).prepare(problem)

    assert goal.neighbourhood(Arrangement(problem), np.random.default_rng(0), 2) is None


def test_a_search_for_better_moves_ends_where_it_was_in_vain_for_long_and_keeps_its_tables() -> None:
    problem = hosts([[1, 5], [1, 5], [1, 4], [1, 4]], [0, 3, 6, 7])
    goal, placement, whole = half_gpus().prepare(problem), Arrangement(problem), Budget(Limits(work=1e6))
    descent = goal.descent(placement)
    before = descent.stranded

    Recreation(descent, np.random.default_rng(0)).run(whole, whole, 0.0)
    assert descent.stranded == before
    Recreation(descent, np.random.default_rng(0)).run(whole, whole, 1.0)

    assert not whole.is_over
    assert descent.stranded == goal.value(placement.at)[0] < before


def test_both_nodes_of_moved_pods_are_in_most_pieces_though_they_strand_nothing() -> None:
    """Nodes 2 to 9 strand 9 each."""
    problem = make_problem([[10], *([1] for _ in range(8))], [[10]] * 10, [0, *range(2, 10)])
    goal, placement = ReduceFragmentation(0, np.array([[10]])).prepare(problem), Arrangement(problem)
    placement.move(0, 1)

    pieces = [goal.neighbourhood(placement, np.random.default_rng(seed), 2) for seed in range(60)]

    with_both = [piece for piece in pieces if piece is not None and {0, 1} <= set(piece.nodes.tolist())]
    assert 35 < len(with_both) < 60

"""Nodes made of parts: capacity is held a part, a pod leaves its machine, and what does not go together is named."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from descheduler.optimizer import (
    UNLIMITED,
    BalanceUtilization,
    ConsolidateNodes,
    Limits,
    MakeRoom,
    Parts,
    Problem,
    Reassignment,
    make_problem,
    replay,
    solve,
)
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.objective import Objective
from tests.optimizer.tiny import random_parts_problem


def make_gpu_problem(*, gpus: Sequence[int], need: Sequence[Sequence[int]], assignment: Sequence[int]) -> Problem:
    """Machines with 8 cores and so many GPUs of 10 tenths; nodes are single GPUs, in order, then whole machines."""
    hosts = len(gpus)
    machine = np.repeat(np.arange(hosts), gpus)
    most = max(gpus)
    single = [[host, hosts + gpu, *[-1] * (most - 1)] for gpu, host in enumerate(machine.tolist())]
    firsts = np.cumsum([0, *gpus])
    whole = [
        [host, *range(hosts + first, hosts + first + num), *[-1] * (most - num)]
        for host, (first, num) in enumerate(zip(firsts.tolist(), gpus, strict=False))
    ]
    capacity = [[8, UNLIMITED]] * hosts + [[UNLIMITED, 10]] * len(machine)
    parts = Parts(np.array(capacity), np.array(single + whole), np.concatenate((machine, np.arange(hosts))))
    return make_problem(need, parts, assignment)


def test_room_of_a_node_is_the_least_of_its_parts() -> None:
    problem = make_gpu_problem(gpus=[2], need=[[3, 4]], assignment=[0])

    placement = Arrangement(problem)

    assert placement.free.T.tolist() == [[5, 6], [5, 10], [5, 6]]


def test_moves_on_parts_change_what_overlapping_nodes_have_left() -> None:
    problem = make_gpu_problem(gpus=[2, 2], need=[[3, 4], [1, 10]], assignment=[0, 4])
    placement = Arrangement(problem)

    placement.move(1, 5)
    placement.move(0, 2)

    assert placement.free.T.tolist() == Arrangement(problem, placement.at).free.T.tolist()


def test_pod_that_moves_leaves_its_machine() -> None:
    problem = make_gpu_problem(gpus=[2, 1], need=[[1, 4]], assignment=[0])

    is_open = Arrangement(problem).open_moves(np.array([0]), np.arange(problem.num_nodes))

    assert is_open[0].tolist() == [False, False, True, False, True]
    assert replay(problem, [[Reassignment(0, 0, 1)]], np.array([1])) == ["wave 0: pod 0 does not leave its machine"]


def test_replay_looks_at_every_part_and_at_both_ends() -> None:
    problem = make_gpu_problem(gpus=[2, 1], need=[[1, 6], [1, 5]], assignment=[2, 0])

    alone = replay(problem, [[Reassignment(0, 2, 0)]], np.array([0, 0]))
    swapped = replay(problem, [[Reassignment(0, 2, 0), Reassignment(1, 0, 2)]], np.array([0, 2]))

    assert alone == ["wave 0: part 2 holds 11 of resource 1, capacity 10"]
    assert swapped == [*alone, "wave 0: part 4 holds 11 of resource 1, capacity 10"]


def test_pending_pod_of_two_whole_devices_gets_them_after_a_part_has_left() -> None:
    problem = make_gpu_problem(gpus=[2, 1], need=[[1, 3], [1, 10]], assignment=[0, -1])

    plan = solve(problem, MakeRoom(), Limits(work=1.0))

    assert [(move.pod, move.target) for move in plan.moves][-1] in [(1, 1), (1, 2), (1, 3)]
    assert plan.value[0] == 0


@pytest.mark.parametrize("seed", range(20))
def test_room_kept_move_by_move_is_the_room_counted_anew(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_parts_problem(rng)
    placement = Arrangement(problem)

    for pod in np.flatnonzero(problem.evictable).tolist():
        placement.move(pod, int(rng.integers(problem.num_nodes)))

    again = Arrangement(problem, placement.at)
    assert placement.free.tolist() == again.free.tolist()
    assert placement.usage.tolist() == again.usage.tolist()


@pytest.mark.parametrize("objective", [BalanceUtilization(np.zeros((6, 2), np.int64)), ConsolidateNodes()])
def test_objective_over_whole_nodes_refuses_parts(objective: Objective) -> None:
    problem = random_parts_problem(np.random.default_rng(0))

    with pytest.raises(ValueError, match="needs nodes with capacity of their own, not made of parts"):
        objective.prepare(problem)


@pytest.mark.parametrize(
    ("taken", "machine", "sentence"),
    [
        pytest.param([[0], [2]], [0, 0], "taken is not within -1 and 1", id="unknown part"),
        pytest.param([[0], [-1]], [0, 0], "a node has none", id="node of nothing"),
        pytest.param([[0], [0]], [0, 1], "taken by nodes of two machines", id="part of two machines"),
        pytest.param([[0], [1]], [0], r"shapes \(2, 1\) and \(1,\)", id="machine for one node only"),
    ],
)
def test_parts_that_do_not_go_together_are_named(taken: list[list[int]], machine: list[int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Parts(np.array([[1], [1]]), np.array(taken), np.array(machine))


def test_a_problem_in_which_every_pod_stays_is_solved() -> None:
    problem = dataclasses.replace(
        make_gpu_problem(gpus=[1, 1], need=[[1, 5]], assignment=[0]), evictable=np.array([False])
    )

    assert solve(problem, MakeRoom(), Limits(work=1.0)).moves == ()


def test_machines_below_0_are_named() -> None:
    with pytest.raises(ValueError, match="a machine is below 0"):
        Parts(np.array([[1], [1]]), np.array([[0], [1]]), np.array([0, -1]))


def test_parts_know_their_machines_and_machines_their_nodes() -> None:
    """Machine 1 has no nodes, and part 3 is taken by none."""
    parts = Parts(np.ones((4, 1), np.int64), np.array([[2, -1], [0, 1], [1, -1]]), np.array([2, 0, 0]))

    assert [nodes.tolist() for nodes in parts.nodes_of] == [[1, 2], [], [0]]
    assert parts.machine_of.tolist() == [0, 0, 2, 0]
    assert [parts.of(node) for node in range(3)] == [[2], [0, 1], [1]]


def test_a_node_has_the_least_that_its_parts_have() -> None:
    parts = Parts(np.ones((3, 2), np.int64), np.array([[0, 1], [2, -1]]), np.array([0, 1]))

    assert parts.least(np.array([[5, 2], [3, 4], [UNLIMITED - 1, 0]])).tolist() == [[3, 2], [UNLIMITED - 1, 0]]

"""Room for pending pods: what free volume cannot hold on shared parts, and which pods pieces have."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import UNLIMITED, MakeRoom, Parts, Problem, make_problem
from descheduler.optimizer.arrangement import Arrangement

PENDING = -1


def hosts(need: list[list[int]], at: list[int]) -> Problem:
    """Two hosts of 8 cores with a GPU of 10 tenths each."""
    capacity = [[8, UNLIMITED]] * 2 + [[UNLIMITED, 10]] * 2
    return make_problem(need, Parts(np.array(capacity), np.array([[0, 2], [1, 3]]), np.arange(2)), at)


@pytest.mark.parametrize(
    ("need", "at", "left"),
    [
        pytest.param([[8, 1]] * 3, [PENDING] * 3, 1, id="cores of hosts"),
        pytest.param([[1, 10]] * 3, [PENDING] * 3, 1, id="tenths of GPUs"),
        pytest.param([[8, 1]] * 3, [PENDING, PENDING, 1], 1, id="beside a pod that may leave"),
        pytest.param([[8, 1]] * 2, [PENDING, 1], 0, id="there is room for all"),
    ],
)
def test_what_parts_have_not_enough_of_stays_pending_by_the_bound(
    need: list[list[int]], at: list[int], left: int
) -> None:
    assert MakeRoom().prepare(hosts(need, at)).bound() == (left, 0)


def cluster(*, moved: tuple[tuple[int, int], ...] = (), pending: int = 1) -> Arrangement:
    """Twelve nodes of 10 with a pod of 1 each. The first pods are `pending`, the last of them for node 0 alone."""
    at = [PENDING] * pending + list(range(12))
    problem = make_problem(
        [[1]] * len(at),
        [[10]] * 12,
        at,
        pod_class=[0] * (pending - 1) + [1] + [0] * 12,
        allowed=np.array([[True] * 12, [True] + [False] * 11]),
    )
    placement = Arrangement(problem)
    for pod, node in moved:
        placement.move(pod, node)
    return placement


def test_of_receivers_only_moved_pods_are_in_a_piece() -> None:
    """Pod 0 is pending, pod 1 on node 0 where it may land, and pod 5 has gone from node 4 to node 6."""
    placement = cluster(moved=((5, 6),))
    goal = MakeRoom().prepare(placement.problem)

    for seed in range(30):
        piece = goal.neighbourhood(placement, np.random.default_rng(seed), 12)
        assert piece is not None
        assert 0 in piece.nodes.tolist()
        near = {5} if {4, 6} & set(piece.nodes.tolist()) else set()
        assert set(piece.pods.tolist()) == {0, 1} | near


def test_gangs_are_whole_in_a_piece() -> None:
    """Pods 0 and 1 are of gang 0 and on nodes 0 and 8; pod 2 is pending, for node 0."""
    placement = cluster(moved=((0, 0), (1, 8)), pending=3)
    gang = np.where(np.arange(placement.problem.num_pods) < 2, 0, -1)
    goal = MakeRoom(gang=gang).prepare(placement.problem)

    for seed in range(30):
        piece = goal.neighbourhood(placement, np.random.default_rng(seed), 12)
        assert piece is not None
        assert {0, 1, 2} <= set(piece.pods.tolist())

"""The bound of consolidation: volume, pods that cannot leave, and limits on moves in total."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer import ConsolidateNodes, Limits, MoveLimit, make_problem, solve


def test_limits_count_in_total() -> None:
    """Four nodes hold two pods of one workload each, which may lose three: one node is emptied whole, not two."""
    workload = MoveLimit(np.zeros(8, np.int64), np.array([3]))
    problem = make_problem([[1]] * 8, [[10]] * 4, [0, 0, 1, 1, 2, 2, 3, 3], rules=[workload])

    plan = solve(problem, ConsolidateNodes(), Limits(work=2.0))

    assert plan.value == plan.bound == (3, 2)


def test_several_limits_count_together() -> None:
    """Workloads a and b have a pod on two nodes each, and may lose one: nodes 0 and 1 share a, 1 and 2 share b."""
    both = MoveLimit(np.array([0, 0, 1, 1, -1]), np.array([1, 1]))
    problem = make_problem([[1]] * 5, [[10]] * 4, [0, 1, 1, 2, 3], rules=[both])

    plan = solve(problem, ConsolidateNodes(), Limits(work=2.0))

    assert plan.value[0] == plan.bound[0] == 1


def test_a_node_whose_pod_fits_nowhere_else_stays_in_the_bound() -> None:
    """Beside pinned pods of 2 there is room for a pod of 6, and for none of 7, whatever the volume says."""
    fits, too_large = (
        make_problem([[size], [2], [2]], [[8]] * 3, [0, 1, 2], evictable=[True, False, False]) for size in (6, 7)
    )

    assert solve(fits, ConsolidateNodes(), Limits(work=2.0)).bound == (2, 1)
    assert solve(too_large, ConsolidateNodes(), Limits(work=2.0)).bound == (3, 0)


def test_pods_that_only_some_nodes_take_need_room_there() -> None:
    """Six nodes of two zones have a pod each. Of four nodes of zone 0 two can be emptied, whatever zone 1 has."""
    zones = np.array([[True] * 4 + [False] * 2, [False] * 4 + [True] * 2])
    problem = make_problem(
        [[5]] * 4 + [[1]] * 2, [[10]] * 4 + [[100]] * 2, range(6), pod_class=[0] * 4 + [1] * 2, allowed=zones
    )

    plan = solve(problem, ConsolidateNodes(), Limits(work=2.0))

    assert plan.value == plan.bound == (3, 3)


def test_volume_and_limits_count_together() -> None:
    """Seven nodes hold a pod each. Either one of four small nodes can be emptied or all, and two of the large ones."""
    small = MoveLimit(np.array([0, 0, 0, 0, -1, -1, -1]), np.array([1]))
    problem = make_problem([[1]] * 4 + [[30]] * 3, [[10]] * 4 + [[100]] * 3, range(7), rules=[small])

    plan = solve(problem, ConsolidateNodes(), Limits(work=2.0))

    assert plan.value == plan.bound == (4, 3)

"""Room for pending pods: the first plan is as good as the best order of a greedy, and what room costs at least."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import Limits, MakeRoom, make_problem, solve
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.make_room.greedy import make_room_for
from tests.bench.planner.make_room import land_greedily
from tests.worlds.arrays import make_crowded_world, make_stranded_world


@pytest.mark.parametrize("seed", range(4))
def test_first_plan_places_what_the_best_greedy_order_places(seed: int) -> None:
    problem = make_crowded_world(nodes=24, seed=seed)
    placement = Arrangement(problem)

    MakeRoom().prepare(problem).first_plan(placement, np.random.default_rng(0), Budget(Limits(work=1.0)))

    pending = int((placement.at < 0).sum())
    assert int((problem.assignment < 0).sum()) - pending >= land_greedily(problem)[0]
    assert not np.any(placement.free.min(axis=0) < 0)


def test_room_costs_at_least_the_pods_that_must_leave() -> None:
    """Each of two nodes has 1 free: one of 3 has to leave the first for a pod of 4, two of 2 the second."""
    problem = make_problem(
        need=[[3], [2], [2], [2], [4], [4]],
        capacity=[[4], [7], [9]],
        assignment=[0, 1, 1, 1, -1, -1],
        allowed=[[True, True, False]],
    )

    assert MakeRoom().prepare(problem).bound() == (0, 3)


@pytest.mark.parametrize(
    ("need", "left"),
    [
        pytest.param([4, 0], 1, id="larger than each node without the pods that stay"),
        pytest.param([3, 0], 0, id="as large as one without them"),
        pytest.param([3, 1], 1, id="of what pods that stay take too much of"),
    ],
)
def test_pod_that_fits_no_node_beside_the_pods_that_stay_is_in_the_bound(need: list[int], left: int) -> None:
    """Three nodes have 7 free in all. A pod stays on each, which takes more of the second resource than there is."""
    problem = make_problem(
        need=[[1, 9], [1, 9], [1, 9], [2, 0], need],
        capacity=[[4, 5], [4, 5], [4, 5]],
        assignment=[0, 1, 2, 0, -1],
        evictable=[False, False, False, True, True],
    )

    assert MakeRoom().prepare(problem).bound()[0] == left


def test_resource_that_no_pod_needs_makes_no_pod_leave() -> None:
    problem = make_problem(
        need=[[3, 0], [2, 0], [3, 0]],
        capacity=[[6, 0], [9, 0]],
        assignment=[0, 0, -1],
        allowed=[[True, False]],
    )

    assert MakeRoom().prepare(problem).bound() == (0, 1)


def test_a_pending_pod_takes_what_an_evicted_one_leaves_where_both_ends_are_held() -> None:
    """It waits until the others have moved, so that nothing is held against it."""
    problem = make_problem(need=[[3], [4]], capacity=[[4], [3]], assignment=[0, -1], both_ends=[True])

    plan = solve(problem, MakeRoom(), Limits(work=0.1))

    assert plan.value == (0, 1)


@pytest.mark.long
def test_moves_that_wait_for_each_other_do_not_cost_all_the_rest() -> None:
    """Of the best assignment found nothing can be put in order: its pods go in circles."""
    problem = make_stranded_world(nodes=20, seed=10, pending_ratio=0.4)

    plan = solve(problem, MakeRoom(), Limits(work=0.5))

    assert plan.value_before[0] - plan.value[0] >= land_greedily(problem)[0]


@pytest.mark.parametrize(
    ("size", "is_placed"),
    [
        pytest.param(2, True, id="it fits as it is"),
        pytest.param(4, True, id="a move makes room"),
        pytest.param(6, False, id="no node is large enough"),
    ],
)
def test_the_greedy_tells_whether_a_pending_pod_has_a_node(size: int, is_placed: bool) -> None:
    """Node 0 has 3 of 5 free, and its pod may move to node 1."""
    placement = Arrangement(make_problem(need=[[2], [size]], capacity=[[5], [2]], assignment=[0, -1]))

    assert make_room_for(placement, 1) is is_placed
    assert (placement.at[1] >= 0) == is_placed

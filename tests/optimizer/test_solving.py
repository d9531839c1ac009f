"""One call from arrays to a plan: the same arguments give the same plan, limits and cancelling end it, hints help."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from descheduler.optimizer import (
    BalanceUtilization,
    ConsolidateNodes,
    Limits,
    MoveLimit,
    SearchProgress,
    Solution,
    make_problem,
    replay,
    solve,
)
from tests.worlds.arrays import ArrayWorld, make_balance_world, make_consolidation_world


def _world(seed: int = 2) -> ArrayWorld:
    return make_balance_world(nodes=60, seed=seed, mean_ratio=0.62)


def _bytes(plan: Solution) -> tuple[bytes, object, object]:
    return plan.assignment.tobytes(), plan.waves, plan.value


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_same_seed_and_work_give_the_same_plan(workers: int) -> None:
    world = make_consolidation_world(nodes=24, seed=1, mean_ratio=0.45)

    first, second = (
        solve(world.problem, ConsolidateNodes(world.ceiling), Limits(work=0.2), seed=7, num_workers=workers)
        for _ in range(2)
    )

    assert _bytes(first) == _bytes(second)


def test_balanced_cluster_has_no_node_over_and_is_near_the_bound() -> None:
    world = _world()

    plan = solve(world.problem, BalanceUtilization(world.ceiling), Limits(work=0.5))

    assert plan.value[0] == 0
    assert plan.bound[1] <= plan.value[1] <= 1.1 * plan.bound[1]
    assert replay(world.problem, plan.waves, plan.assignment) == []


def test_cancelled_search_returns_the_best_plan_so_far() -> None:
    world = _world()
    seen: list[SearchProgress] = []

    plan = solve(
        world.problem,
        BalanceUtilization(world.ceiling),
        Limits(work=1e9),
        is_cancelled=lambda: bool(seen),
        on_progress=seen.append,
    )

    assert plan.value == seen[-1].value
    assert plan.value < plan.value_before


def test_move_limits_hold() -> None:
    world = _world()
    limit = MoveLimit(np.zeros(world.problem.num_pods, np.int64), np.array([5]))
    problem = dataclasses.replace(world.problem, rules=(*world.problem.rules, limit))

    plan = solve(problem, BalanceUtilization(world.ceiling), Limits(work=0.1))

    assert 0 < len(plan.moves) <= 5
    assert plan.value[0] < plan.value_before[0]


def test_hint_of_the_last_run_is_the_first_plan() -> None:
    world = _world()
    last = solve(world.problem, BalanceUtilization(world.ceiling), Limits(work=0.5))

    plan = solve(world.problem, BalanceUtilization(world.ceiling), Limits(work=1e-9), hint=last.assignment)

    assert plan.value <= last.value


def test_hint_moves_no_pod_that_stays() -> None:
    problem = make_problem([[4], [4]], [[8], [8]], [0, 0], evictable=[False, True])

    plan = solve(problem, BalanceUtilization(np.array([[4], [8]])), Limits(work=1.0), hint=np.array([1, 0]))

    assert [move.pod for move in plan.moves] == [1]


def test_doing_nothing_is_a_plan_where_nothing_is_over() -> None:
    problem = make_problem([[1], [1]], [[4], [4]], [0, 1])

    plan = solve(problem, BalanceUtilization(np.array([[3], [3]])), Limits(work=1.0))

    assert (plan.moves, plan.value, plan.is_optimal) == ((), (0, 0), True)


def test_arrays_that_do_not_go_together_are_named() -> None:
    with pytest.raises(ValueError, match=r"assignment: values from 0 to 2, expected -1 or more and below 2"):
        make_problem([[1], [1]], [[4], [4]], [0, 2])
    with pytest.raises(ValueError, match=r"cost: shape \(1,\), expected \(2,\)"):
        make_problem([[1], [1]], [[4], [4]], [0, 1], cost=[1])
    with pytest.raises(ValueError, match=r"limits: neither seconds nor work"):
        Limits()

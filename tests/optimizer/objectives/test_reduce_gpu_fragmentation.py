"""Device fragmentation: the tables say what moves change, the best move goes first, and more time is never worse."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from descheduler.optimizer import Limits, Parts, Problem, ReduceGpuFragmentation, Solution, make_problem, replay, solve
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Floats
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.reduce_gpu_fragmentation.fragments import Fragments
from descheduler.optimizer.objectives.reduce_gpu_fragmentation.objective import Recreation
from tests.bench.planner.openb import fragmentation_ratio, move_one_by_one
from tests.optimizer.tiny import random_parts_problem
from tests.worlds.openb_arrays import OpenbWorld, make_small_openb_world

_OBJECTIVE = ReduceGpuFragmentation(
    resource=0,
    classes=np.array([[3, 1], [6, 2], [4, 4], [0, 2]]),
    num_devices=np.array([1, 2, 1, 0]),
    weight=np.array([3, 1, 2, 1]),
)


def _world(seed: int = 0) -> OpenbWorld:
    return make_small_openb_world(hosts=14, load=0.7, seed=seed)


def _stranded_by_definition(free: Floats) -> int:
    """FGD's sum for one machine, class by class; `free` is float64[R, G]."""
    total = 0
    devices = [column for column in free.T.tolist() if column[0] >= 0]
    idle = [max(column[0], 0) for column in devices]
    for need, count, weight in zip(_OBJECTIVE.classes, _OBJECTIVE.num_devices, _OBJECTIVE.weight, strict=True):
        fitting = sum(all(has >= wanted for has, wanted in zip(column, need, strict=True)) for column in devices)
        can_run = count > 0 and fitting >= count
        total += int(weight) * int(sum(left for left in idle if not can_run or left < need[0]))
    return total


def test_fragments_are_those_of_the_definition() -> None:
    free = np.random.default_rng(0).integers(-1, 9, (2, 200, 3)).astype(np.float64)
    free[1][free[0] < 0] = -1
    objective = _OBJECTIVE

    found = Fragments(0, objective.classes, objective.num_devices, objective.weight).of(free)

    assert found.tolist() == [_stranded_by_definition(free[:, machine]) for machine in range(200)]


@pytest.mark.parametrize("seed", range(10))
def test_tables_say_what_a_move_changes(seed: int) -> None:
    problem = random_parts_problem(np.random.default_rng(seed), rules=False)
    goal, placement = _OBJECTIVE.prepare(problem), Arrangement(problem)
    descent = goal.descent(placement)

    for pod in np.flatnonzero(problem.evictable).tolist():
        change, _, node = descent.best_open_move(pod)
        if np.isfinite(change):
            before = goal.value(placement.at)[0]
            descent.move(pod, node)
            assert goal.value(placement.at)[0] - before == change
            assert descent.stranded == goal.value(placement.at)[0]


@pytest.mark.parametrize("seed", range(10))
def test_first_move_of_the_descent_is_the_best_of_all(seed: int) -> None:
    world = make_small_openb_world(hosts=4, load=0.8, seed=seed, moved_ratio=0.02)
    problem, goal = world.problem, world.objective.prepare(world.problem)
    placement = Arrangement(problem)

    goal.descent(placement).run(Budget(Limits(work=1.0)))

    assert goal.value(placement.at)[0] <= _best_after_one_move(problem, world.objective)


def _best_after_one_move(problem: Problem, objective: ReduceGpuFragmentation) -> int:
    goal, placement = objective.prepare(problem), Arrangement(problem)
    pods, nodes = np.arange(problem.num_pods), np.arange(problem.num_nodes)
    placed = pods[problem.assignment >= 0]
    best = goal.value(problem.assignment)[0]
    for row, node in np.argwhere(placement.open_moves(placed, nodes)).tolist():
        at = problem.assignment.copy()
        at[placed[row]] = node
        best = min(best, goal.value(at)[0])
    return best


def test_recreation_only_betters_and_keeps_the_tables() -> None:
    world = _world()
    goal, placement = world.objective.prepare(world.problem), Arrangement(world.problem)
    descent = goal.descent(placement)
    descent.run(Budget(Limits(work=1.0)))
    before, budget = goal.value(placement.at), Budget(Limits(work=0.2))

    Recreation(descent, np.random.default_rng(1)).run(budget, budget, 1.0)

    assert goal.value(placement.at)[0] <= before[0]
    assert descent.stranded == goal.value(placement.at)[0]


@pytest.mark.parametrize("seed", range(4))
def test_tables_are_those_of_the_placement_after_moves_were_taken_back(seed: int) -> None:
    """Eight hosts of one part for cores and two devices, of which most are used in part."""
    rng = np.random.default_rng(seed)
    capacity = [[2**40, 20]] * 8 + [[10, 2**40]] * 16
    taken, machine = np.column_stack((np.repeat(np.arange(8), 2), 8 + np.arange(16))), np.repeat(np.arange(8), 2)
    need = np.column_stack((rng.integers(1, 6, 20), rng.integers(1, 4, 20)))
    at = np.concatenate((np.arange(16), rng.integers(0, 16, 4)))
    problem = make_problem(need, Parts(np.array(capacity), taken, machine), at)
    goal, placement = _OBJECTIVE.prepare(problem), Arrangement(problem)
    descent, budget = goal.descent(placement), Budget(Limits(work=0.03))

    Recreation(descent, np.random.default_rng(seed)).run(budget, budget, 1.0)

    fresh = goal.descent(placement)
    assert descent.stranded == fresh.stranded == goal.value(placement.at)[0]
    assert [descent.best_open_move(pod) for pod in range(20)] == [fresh.best_open_move(pod) for pod in range(20)]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_plan_strands_less_than_moves_one_by_one(seed: int) -> None:
    world = _world(seed)
    problem = world.problem

    plan = solve(problem, world.objective, Limits(work=0.3), seed=seed)

    assert replay(problem, plan.waves, plan.assignment) == []
    assert len(problem.moved(plan.assignment)) <= 0.2 * problem.num_pods
    ratios = [
        fragmentation_ratio(world, at)
        for at in (plan.assignment, move_one_by_one(problem, world.objective, seed), problem.assignment)
    ]
    assert ratios == sorted(ratios)
    assert ratios[0] < ratios[-1]


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_same_seed_and_work_give_the_same_plan(workers: int) -> None:
    world = _world()

    first, second = (
        solve(world.problem, world.objective, Limits(work=0.1), seed=3, num_workers=workers) for _ in range(2)
    )

    assert _parts(first) == _parts(second)


def _parts(plan: Solution) -> tuple[bytes, object, object]:
    return plan.assignment.tobytes(), plan.waves, plan.value


def test_objective_that_does_not_fit_the_problem_is_named() -> None:
    problem = random_parts_problem(np.random.default_rng(0))

    with pytest.raises(ValueError, match="needs a problem whose nodes are made of parts"):
        _OBJECTIVE.prepare(make_problem([[1, 1]], [[4, 4]], [0]))
    with pytest.raises(ValueError, match=r"weight: shape \(2,\), expected \(4,\)"):
        dataclasses.replace(_OBJECTIVE, weight=np.array([1, 2])).prepare(problem)

"""The optimizer's objectives over tiny problems, and the best that plans for them can reach."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from descheduler.optimizer import (
    BalanceUtilization,
    ConsolidateNodes,
    MakeRoom,
    Problem,
    ReduceCost,
    ReduceFragmentation,
    ReduceGpuFragmentation,
    RepairViolations,
)
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.objective import Objective, Value
from tests.optimizer.tiny import every_assignment, is_feasible, random_parts_problem, random_problem

Make = Callable[[Problem], Objective]
"""An objective over a problem."""


def _balance(problem: Problem) -> Objective:
    return BalanceUtilization(ceiling=(problem.capacity * 0.7).astype(np.int64))


def _consolidate(problem: Problem) -> Objective:
    return ConsolidateNodes(weight=np.arange(1, problem.num_nodes + 1))


def _replace(problem: Problem) -> Objective:
    is_empty = ~np.isin(np.arange(problem.num_nodes), problem.assignment)
    return ConsolidateNodes(weight=np.array([5, 4, 3]), receives=is_empty)


def _make_room(problem: Problem) -> Objective:
    return MakeRoom(weight=np.arange(problem.num_pods) % 2 + 1)


def _gangs(problem: Problem) -> Objective:
    return MakeRoom(gang=np.where(np.arange(problem.num_pods) < 2, 0, -1))


def _defragment(problem: Problem) -> Objective:
    return ReduceFragmentation(resource=0, classes=np.array([[3, 1], [5, 4]]), weight=np.array([1, 2]))


def _reduce_cost(problem: Problem) -> Objective:
    return ReduceCost(rate=np.array([[7.0, 3.0], [4.0, 4.0], [1.0, 0.5]]))


def _parts_make_room(problem: Problem) -> Objective:
    return _make_room(problem)


def _parts_defragment(problem: Problem) -> Objective:
    return _defragment(problem)


def _defragment_devices(problem: Problem) -> Objective:
    return ReduceGpuFragmentation(
        resource=0,
        classes=np.array([[3, 1], [6, 2], [4, 4], [0, 2]]),
        num_devices=np.array([1, 2, 1, 0]),
        weight=np.array([3, 1, 2, 1]),
    )


def _relocate(problem: Problem) -> Objective:
    return RepairViolations(weight=np.arange(problem.num_pods) % 3)


OBJECTIVES = [
    pytest.param(_balance, id="balance"),
    pytest.param(_consolidate, id="consolidate"),
    pytest.param(_replace, id="consolidate onto empty nodes"),
    pytest.param(_make_room, id="make room"),
    pytest.param(_gangs, id="make room for gangs"),
    pytest.param(_defragment, id="defragment"),
    pytest.param(_reduce_cost, id="reduce cost"),
    pytest.param(_parts_make_room, id="make room on parts"),
    pytest.param(_parts_defragment, id="defragment parts"),
    pytest.param(_defragment_devices, id="defragment devices"),
    pytest.param(_relocate, id="relocate"),
]
"""Parameters: a `Make` each."""


def problem_for(make: Make, seed: int, *, rules: bool = True) -> Problem:
    """A tiny problem in which the objective has something to do."""
    rng = np.random.default_rng(seed)
    if make in (_parts_make_room, _parts_defragment, _defragment_devices):
        return random_parts_problem(rng, rules=rules, pending=3 if make is _parts_make_room else 0)
    pending, empty = 3 if make in (_make_room, _gangs) else 0, 1 if make is _replace else 0
    return random_problem(rng, rules=rules, pending=pending, empty=empty)


def best(problem: Problem, objective: Objective) -> Value:
    """The best assignment of those that a plan may have; see `is_of_plans`."""
    prepared = objective.prepare(problem)
    return min(
        prepared.value(at)
        for at in every_assignment(problem)
        if is_feasible(problem, at) and is_of_plans(problem, objective, at)
    )


def is_of_plans(problem: Problem, objective: Objective, at: Ints) -> bool:
    """For consolidation, that it takes whole nodes and puts nothing on unused ones; for balancing, that no node is over
    its ceiling that was not, and that none that is has got a pod."""
    match objective:
        case ConsolidateNodes():
            return _takes_whole_nodes(objective, problem.assignment, at)
        case BalanceUtilization():
            before, after = ((problem.usage(each) > objective.ceiling).any(axis=1) for each in (problem.assignment, at))
            has_come = np.isin(np.arange(problem.num_nodes), at[problem.moved(at)])
            return not (after & (~before | has_come)).any()
    return True


def _takes_whole_nodes(objective: ConsolidateNodes, before: Ints, after: Ints) -> bool:
    left, used = set(before[before != after].tolist()), set(after.tolist())
    opened = [] if objective.receives is None else np.flatnonzero(objective.receives).tolist()
    return not left & used and used <= {*before.tolist(), *opened}

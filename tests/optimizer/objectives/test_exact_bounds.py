"""Bounds of objectives beside the best of all assignments of crowded clusters: never above it, and mostly just it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from descheduler.optimizer import (
    AtMost,
    BalanceUtilization,
    ConsolidateNodes,
    Limits,
    MakeRoom,
    MaxSkew,
    MoveLimit,
    Problem,
    ReduceCost,
    make_problem,
)
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objective import Objective
from descheduler.optimizer.rules import Rule
from tests.optimizer.objectives.assignments import best_balance, cost, feasible, used

_NODES, _ROOM = 4, 10


def crowded(seed: int, *, sizes: list[int], pending: int = 0, movable: int = 5, few: bool = False) -> Problem:
    """Nodes of 10, each filled up to 9 at most; few of the pods may move, under a limit or a rule in most clusters."""
    rng = np.random.default_rng(seed)
    need, at = [int(size) for size in rng.choice(sizes, pending)], [-1] * pending
    for node in range(_NODES):
        left = int(rng.integers(3, _ROOM)) if few else _ROOM - 1 - int(rng.integers(0, 3))
        while (fitting := [size for size in sizes if size <= left]) and (not few or at.count(node) < 2):
            need.append(int(rng.choice(fitting)))
            at.append(node)
            left -= need[-1]
    pods = len(need)
    evictable = np.isin(np.arange(pods), rng.permutation(np.arange(pending, pods))[:movable])
    group, domain = rng.integers(0, 2, pods), np.array([0, 0, 1, 1])
    rules: list[Rule] = []
    kind = seed % 4
    if kind == 1:
        rules.append(MoveLimit(group, rng.integers(0, 3, 2)))
    counts = np.array([[((group == g) & (np.append(domain, -1)[at] == d)).sum() for d in range(2)] for g in range(2)])
    if kind == 2:
        rules.append(AtMost(group, domain, counts.max(axis=1)))
    if kind == 3:
        skew = np.maximum(np.abs(counts[:, 0] - counts[:, 1]), 1)
        rules.append(MaxSkew(group, domain, skew, np.ones((2, 2), bool)))
    allowed = np.array([[True] * _NODES, (rng.random(_NODES) < 0.6).tolist()])
    return make_problem(
        [[size] for size in need],
        [[_ROOM]] * _NODES,
        at,
        evictable=evictable,
        cost=rng.integers(1, 4, pods),
        pod_class=rng.random(pods) < 0.3,
        allowed=allowed,
        rules=rules,
    )


def _balance(seed: int) -> tuple[Problem, Objective, Any]:
    problem, ceiling = crowded(seed, sizes=[2, 3, 4, 5, 6]), np.full((_NODES, 1), 7)
    return problem, BalanceUtilization(ceiling), best_balance(problem, ceiling)


def _consolidate(seed: int) -> tuple[Problem, Objective, Any]:
    problem, weight = crowded(seed, sizes=[1, 2, 3], movable=6, few=True), np.array([1, 2, 2, 3])
    at = feasible(problem)
    moved = at != problem.assignment
    left = np.stack([(moved & (problem.assignment == node)).any(axis=1) for node in range(_NODES)], axis=1)
    in_use = np.stack([(at == node).any(axis=1) for node in range(_NODES)], axis=1)
    had = np.isin(np.arange(_NODES), problem.assignment)
    at, in_use = at[~(left & in_use).any(axis=1)], in_use[~(left & in_use).any(axis=1)]
    at, in_use = at[~(in_use & ~had).any(axis=1)], in_use[~(in_use & ~had).any(axis=1)]
    value = min(zip((in_use * weight).sum(axis=1).tolist(), cost(problem, at).tolist(), strict=True))
    return problem, ConsolidateNodes(weight=weight), value


def _make_room(seed: int) -> tuple[Problem, Objective, Any]:
    problem = crowded(seed, sizes=[2, 3, 4], pending=2, movable=4)
    weight = np.arange(problem.num_pods) % 2 + 1
    at = feasible(problem)
    waiting = ((at < 0) * weight).sum(axis=1)
    return problem, MakeRoom(weight=weight), min(zip(waiting.tolist(), cost(problem, at).tolist(), strict=True))


def _reduce_cost(seed: int) -> tuple[Problem, Objective, Any]:
    problem, rate = crowded(seed, sizes=[1, 2, 3]), np.array([[1.0], [2.0], [4.0], [7.0]])
    at = feasible(problem)
    price = (used(problem, at) * rate).sum(axis=(1, 2)).astype(int)
    return problem, ReduceCost(rate), min(zip(price.tolist(), cost(problem, at).tolist(), strict=True))


@pytest.mark.parametrize("seed", [*range(40), 223])  # of 223, pods that need the same are of two groups that are spread
def test_balancing_reaches_its_bound(seed: int) -> None:
    """In both figures, with pods that fit nowhere as things are."""
    problem, objective, best = _balance(seed)

    assert objective.prepare(problem).bound() == best


@pytest.mark.parametrize(
    ("make", "num_near"),
    [
        pytest.param(_consolidate, 28, id="consolidate"),
        pytest.param(_make_room, 23, id="make room"),
        pytest.param(_reduce_cost, 16, id="reduce cost"),
    ],
)
def test_no_assignment_is_better_than_the_bound_which_is_mostly_near(
    make: Callable[[int], tuple[Problem, Objective, Any]], num_near: int
) -> None:
    """Of 32 clusters so many reach the first figure at least; prices are rounded by one."""
    spare = 1 if make is _reduce_cost else 0
    found = 0
    for seed in range(32):
        problem, objective, best = make(seed)

        bound = objective.prepare(problem).bound()

        assert bound <= best, seed
        found += bound[0] >= best[0] - spare
    assert found >= num_near


@pytest.mark.parametrize(
    ("make", "num_best"),
    [
        pytest.param(_balance, 30, id="balance"),
        pytest.param(_consolidate, 28, id="consolidate"),
        pytest.param(_make_room, 26, id="make room"),
    ],
)
def test_first_plans_are_mostly_the_best(make: Callable[[int], tuple[Problem, Objective, Any]], num_best: int) -> None:
    """Of 32 clusters in so many at least, for consolidation after other drains were tried for a while."""
    found = 0
    for seed in range(32):
        problem, objective, best = make(seed)
        goal, placement, rng = objective.prepare(problem), Arrangement(problem), np.random.default_rng(seed)

        goal.first_plan(placement, rng, Budget(Limits(work=1.0)))
        goal.vary(placement, rng, Budget(Limits(work=0.01)))

        goal.tidy(placement)
        assert goal.value(placement.at) >= best
        found += goal.value(placement.at) == best
    assert found >= num_best

"""Consolidation where the scheduler chooses the targets: what is planned is what a scheduler does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from descheduler.optimizer import Limits
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.consolidate_nodes import ConsolidateNodes, Drain, MostAllocated
from descheduler.optimizer.problem import Problem
from tests.bench.planner.packing_dry_run import faults_of
from tests.worlds.arrays import make_consolidation_world

WEIGHT = np.array([1, 1])


def world(seed: int, nodes: int = 50) -> Problem:
    return make_consolidation_world(nodes=nodes, seed=seed, mean_ratio=0.45).problem


def drains_of(problem: Problem, *, work: float, first: tuple[int, ...] = (), last: Sequence[Drain] = ()) -> list[Drain]:
    scheduler = MostAllocated(problem.capacity, WEIGHT)
    return (
        ConsolidateNodes()
        .prepare(problem)
        .scheduled(first, last, scheduler, Budget(Limits(work=work)), np.random.default_rng(1))
    )


def chosen_by_scheduler(placement: Arrangement, pod: int) -> int:
    """Most allocated in whole percent, the first of equals, over the nodes that take the pod once it has left."""
    placement.move(pod, PENDING)
    problem, best = placement.problem, (-1, -1)
    for node in range(problem.num_nodes):
        if placement.open_moves(np.array([pod]), np.array([node]))[0, 0]:
            capacity = problem.capacity[node]
            used = capacity - placement.free[:, node].astype(int) + problem.need[pod]
            best = max(best, (int(sum(100 * used // capacity) // 2), -node))
    return -best[1]


@pytest.mark.long
def test_every_pod_goes_where_the_scheduler_puts_it() -> None:
    problem = world(0)
    placement = Arrangement(problem)

    drains = drains_of(problem, work=0.3)

    assert drains
    for drain in drains:
        for pod, target in zip(drain.pods.tolist(), drain.targets.tolist(), strict=True):
            assert chosen_by_scheduler(placement, pod) == target
            placement.move(pod, target)
    assert faults_of(problem, placement.at) == []


def test_nodes_are_emptied_whole_and_stay_empty() -> None:
    problem = world(1)
    at = problem.assignment.copy()

    for drain in drains_of(problem, work=0.3):
        at[drain.pods] = drain.targets

    left = set(problem.assignment[at != problem.assignment].tolist())
    assert len(left) > 10
    assert left.isdisjoint(at.tolist())


@pytest.mark.long
def test_longer_search_empties_no_fewer_nodes() -> None:
    problem = world(2)

    assert len(drains_of(problem, work=2.0)) >= len(drains_of(problem, work=0.05))


def test_search_goes_on_with_the_drains_of_the_last_one() -> None:
    problem = world(1)
    last = drains_of(problem, work=1.0)

    again = drains_of(problem, work=0.3, last=last)

    assert len(again) >= len(last) > len(drains_of(problem, work=0.3))


@pytest.mark.long
def test_equal_work_gives_equal_sequences() -> None:
    first, second = (drains_of(world(3), work=0.4) for _ in range(2))

    assert [(drain.node, drain.pods.tolist()) for drain in first] == [
        (drain.node, drain.pods.tolist()) for drain in second
    ]


def test_ceiling_keeps_nodes_from_being_filled_further() -> None:
    problem = world(0)
    ceiling = problem.capacity * 9 // 10
    before = problem.usage(problem.assignment)
    at = problem.assignment.copy()

    scheduler = MostAllocated(problem.capacity, WEIGHT)
    goal = ConsolidateNodes(ceiling).prepare(problem)
    for drain in goal.scheduled((), (), scheduler, Budget(Limits(work=0.3)), np.random.default_rng(1)):
        at[drain.pods] = drain.targets

    assert (problem.usage(at) <= np.maximum(ceiling, before)).all()

"""Sequences of drains whose targets a scheduler chooses, beside the best of all sequences of tiny clusters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from descheduler.optimizer import ConsolidateNodes, Limits, Problem, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.consolidate_nodes import Drain, MostAllocated

WEIGHT = np.array([3, 2, 2, 1])


def cluster(seed: int) -> Problem:
    """Four nodes of 10 with one to three pods, some of which stay."""
    rng = np.random.default_rng(seed)
    need, at = [], []
    for node in range(4):
        for _ in range(int(rng.integers(1, 4))):
            need.append([int(rng.integers(1, 4))])
            at.append(node)
    return make_problem(need, [[10]] * 4, at, evictable=rng.random(len(at)) < 0.9, cost=rng.integers(1, 4, len(at)))


def drained(problem: Problem, nodes: Sequence[int], orders: Sequence[int]) -> int | None:
    """What drains in this order empty, each with its largest (1) or smallest (-1) pods first; None: one fails."""
    placement, received, emptied = Arrangement(problem), set[int](), set[int]()
    for node, order in zip(nodes, orders, strict=True):
        pods = np.flatnonzero(problem.assignment == node)
        if node in received or not problem.evictable[pods].all():
            return None
        size = problem.need[pods, 0]
        ranked = pods[np.argsort(size, kind="stable")]
        for pod in (ranked[::-1] if order > 0 else ranked).tolist():
            placement.move(pod, PENDING)
            target = _scheduled(placement, pod)
            if target in (node, PENDING) or target in emptied:
                return None
            placement.move(pod, target)
            received.add(target)
        emptied.add(node)
    return int(WEIGHT[list(nodes)].sum())


def _scheduled(placement: Arrangement, pod: int) -> int:
    """The fullest node with room, in whole percents, the first of equals."""
    need, best = placement.need[0, pod], (-1, PENDING)
    for node in range(4):
        free = placement.free[0, node]
        if need <= free:
            best = max(best, (int(100 * (10 - free + need) // 10), -node))
    return -best[1] if best[0] >= 0 else PENDING


def all_values(problem: Problem) -> Iterator[int]:
    yield 0
    for number in range(1, 5):
        for nodes in itertools.permutations(range(4), number):
            for orders in itertools.product((1, -1), repeat=number):
                value = drained(problem, nodes, orders)
                if value is not None:
                    yield value


def searched(
    problem: Problem, *, first: Sequence[int] = (), last: Sequence[Drain] = (), work: float = 0.03
) -> list[Drain]:
    goal = ConsolidateNodes(weight=WEIGHT).prepare(problem)
    scheduler = MostAllocated(problem.capacity, np.array([1]))
    return goal.scheduled(first, last, scheduler, Budget(Limits(work=work)), np.random.default_rng(0))


@pytest.mark.parametrize("seed", range(12))
def test_no_sequence_empties_more_weight(seed: int) -> None:
    problem = cluster(seed)

    drains = searched(problem)

    assert sum(int(WEIGHT[drain.node]) for drain in drains) == max(all_values(problem))


@pytest.mark.parametrize("seed", range(12))
def test_pods_go_where_the_scheduler_places_them(seed: int) -> None:
    problem = cluster(seed)
    placement = Arrangement(problem)

    for drain in searched(problem):
        assert sorted(drain.pods.tolist()) == np.flatnonzero(problem.assignment == drain.node).tolist()
        for pod, target in zip(drain.pods.tolist(), drain.targets.tolist(), strict=True):
            placement.move(pod, PENDING)
            assert _scheduled(placement, pod) == target != drain.node
            placement.move(pod, target)
    moved = problem.moved(placement.at)
    assert set(problem.assignment[moved].tolist()).isdisjoint(placement.at.tolist())


def test_a_search_that_is_over_makes_no_drain() -> None:
    assert searched(cluster(0), work=0.0) == []


@pytest.mark.parametrize("seed", range(6))
def test_a_short_search_keeps_the_drains_of_an_earlier_one(seed: int) -> None:
    """It begins with the best of these, of the nodes of a plan, and of neither."""
    problem = cluster(seed)
    drains = searched(problem)

    again = searched(problem, last=drains, work=4e-3)
    planned = searched(problem, first=[drain.node for drain in drains], work=4e-3)

    assert [drain.node for drain in again[: len(drains)]] == [drain.node for drain in drains]
    assert sum(int(WEIGHT[drain.node]) for drain in planned) >= sum(
        int(WEIGHT[drain.node]) for drain in searched(problem, work=4e-3)
    )


@pytest.mark.parametrize("seed", [3, 5])
def test_a_search_ends_by_itself_where_it_was_in_vain_for_long(seed: int) -> None:
    """Less can be emptied than the bound says, so that it is not known that there is nothing better."""
    problem, budget = cluster(seed), Budget(Limits(work=1e9))
    goal = ConsolidateNodes(weight=WEIGHT).prepare(problem)

    drains = goal.scheduled((), (), MostAllocated(problem.capacity, np.array([1])), budget, np.random.default_rng(seed))

    assert sum(int(WEIGHT[drain.node]) for drain in drains) == max(all_values(problem))
    assert 0.1 < budget.spent < 2.0

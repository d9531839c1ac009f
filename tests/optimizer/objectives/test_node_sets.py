"""Sets of nodes that limits let be emptied together, each time another one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from descheduler.optimizer import Limits, MoveLimit, Problem, make_problem
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.consolidate_nodes.contended_limits import ContendedLimits
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains
from descheduler.optimizer.objectives.consolidate_nodes.node_sets import NodeSets


def sets_of(problem: Problem, weight: Sequence[int] = (1, 1, 1, 1)) -> NodeSets:
    none = np.zeros(problem.num_nodes, bool)
    drains = Drains(problem, problem.capacity, protected=none, receives=none)
    return NodeSets(drains, ContendedLimits(drains), np.array(weight))


def shared_budget(*, most: int) -> Problem:
    """One pod on each of nodes 0 to 2, of which so many may leave; node 3 takes them and stays."""
    return make_problem(
        need=[[1]] * 4,
        capacity=[[9]] * 4,
        assignment=[0, 1, 2, 3],
        evictable=[True, True, True, False],
        rules=[MoveLimit(np.array([0, 0, 0, -1]), np.array([most]))],
    )


def chosen(sets: NodeSets, *, times: int, kept: Sequence[int] = ()) -> list[list[int]]:
    rng, budget = np.random.default_rng(0), Budget(Limits(work=1.0))
    return [sets.choose(rng, budget, kept).tolist() for _ in range(times)]


def test_a_set_is_as_large_as_limits_allow() -> None:
    assert [len(nodes) for nodes in chosen(sets_of(shared_budget(most=2)), times=5)] == [2] * 5


def test_sets_differ_by_chance() -> None:
    assert len(set(map(tuple, chosen(sets_of(shared_budget(most=1)), times=30)))) == 3


@pytest.mark.parametrize("unit", [1, 10**15], ids=["as it is", "weights whose sums are large"])
def test_nodes_of_more_weight_are_chosen(unit: int) -> None:
    assert chosen(sets_of(shared_budget(most=1), weight=(unit, 5 * unit, unit, unit)), times=5) == [[1]] * 5


def test_nodes_that_are_kept_are_in_every_set() -> None:
    assert all(2 in nodes for nodes in chosen(sets_of(shared_budget(most=1)), times=10, kept=[2]))


def test_a_node_that_was_left_is_chosen_less_often() -> None:
    sets = sets_of(shared_budget(most=1))
    for _ in range(3):
        sets.note(np.array([0]))

    assert all(0 not in nodes for nodes in chosen(sets, times=10))


def test_there_is_no_set_where_no_limit_binds() -> None:
    assert chosen(sets_of(shared_budget(most=3)), times=1) == [[]]


def test_there_is_no_set_once_the_limits_of_the_search_are_reached() -> None:
    sets, budget = sets_of(shared_budget(most=2)), Budget(Limits(work=0.0))

    assert sets.choose(np.random.default_rng(0), budget).tolist() == []


def test_a_set_takes_of_the_work() -> None:
    budget = Budget(Limits(work=1.0))
    sets_of(shared_budget(most=2)).choose(np.random.default_rng(0), budget)

    assert budget.spent > 0.0

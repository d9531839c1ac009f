"""Consolidation by drains that are taken back and made again, beside greedy orders that are tried once."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import AtMost, ConsolidateNodes, Limits, MaxSkew, MoveLimit, Problem, make_problem, solve
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.consolidate_nodes import GreedyOrder, drain_greedily
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains
from descheduler.optimizer.rules import Rule
from tests.optimizer.tiny import is_feasible


def contended() -> Problem:
    """Node 0 has the fewest pods, one of each of two budgets, which nodes 1 and 2 need; node 3 has room for all."""
    return make_problem(
        need=[[1]] * 8 + [[10]],
        capacity=[[10]] * 3 + [[20]],
        assignment=[0, 0, 1, 1, 1, 2, 2, 2, 3],
        evictable=[True] * 8 + [False],
        rules=[MoveLimit(np.array([0, 1, 0, -1, -1, 1, -1, -1, -1]), np.array([1, 1]))],
    )


def emptied_by(problem: Problem, *, work: float) -> list[int]:
    """The nodes without pods after a greedy order and so much work on other drains."""
    placement, rng, goal = Arrangement(problem), np.random.default_rng(0), ConsolidateNodes().prepare(problem)
    nodes = np.zeros(problem.num_nodes, bool)
    drains, weight = Drains(problem, problem.capacity, protected=nodes, receives=nodes), np.ones(len(nodes), np.int64)
    drain_greedily(drains, placement, GreedyOrder(True, True), weight, budget=Budget(Limits(work=1.0)))
    assert goal.vary(placement, rng, Budget(Limits(work=work)))
    return sorted(set(range(problem.num_nodes)) - set(placement.at.tolist()))


def test_a_drain_is_taken_back_that_uses_up_the_budgets_of_two_others() -> None:
    assert emptied_by(contended(), work=0.0) == [0]
    assert emptied_by(contended(), work=0.1) == [1, 2]


@pytest.mark.long
def test_a_longer_search_is_never_worse() -> None:
    for seed in range(5):
        problem = crowded(np.random.default_rng(seed))
        emptied = [len(emptied_by(problem, work=work)) for work in (0.0, 0.02, 0.1, 0.5)]

        assert emptied == sorted(emptied)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_what_is_left_keeps_every_rule(seed: int) -> None:
    problem = crowded(np.random.default_rng(seed))
    placement, rng, goal = Arrangement(problem), np.random.default_rng(0), ConsolidateNodes().prepare(problem)

    goal.vary(placement, rng, Budget(Limits(work=0.3)))

    assert is_feasible(problem, placement.at)
    assert goal.value(placement.at) < goal.value(problem.assignment)
    moved = set(problem.assignment[problem.moved(placement.at)].tolist())
    assert moved.isdisjoint(placement.at.tolist())


def test_nodes_are_proposed_that_limits_let_be_emptied_together() -> None:
    proposed = ConsolidateNodes().prepare(contended()).proposed()

    assert proposed is not None
    assert sorted({0, 1, 2, 3} - set(proposed.tolist())) == [1, 2]


def test_nothing_is_proposed_where_volume_alone_decides() -> None:
    problem = make_problem(need=[[1], [1], [1]], capacity=[[2]] * 3, assignment=[0, 1, 2])

    assert ConsolidateNodes().prepare(problem).proposed() is None


def test_where_no_node_can_be_emptied_it_ends_at_once() -> None:
    problem = make_problem(need=[[1], [1]], capacity=[[2], [2]], assignment=[0, 1], evictable=[False, False])

    assert emptied_by(problem, work=1e9) == []


def crowded(rng: np.random.Generator) -> Problem:
    """Twelve half empty nodes in three zones; some pods keep apart, some are spread evenly, all are under budgets."""
    nodes, pods = 12, 40
    zone, app = np.arange(nodes) % 3, np.arange(pods) % 8
    assignment = rng.permutation(np.arange(pods) % nodes)
    rules: list[Rule] = [
        AtMost(np.where(app < 3, app, -1), np.arange(nodes), np.full(3, 2)),
        MaxSkew(np.where(app >= 5, app - 5, -1), zone, np.full(3, 2), np.ones((3, 3), bool), holds_first=True),
        MoveLimit(app, np.full(8, 3)),
    ]
    return make_problem(rng.integers(1, 4, (pods, 1)), np.full((nodes, 1), 16), assignment, rules=rules)


def test_pods_go_home_whose_node_a_hint_empties_in_part() -> None:
    problem = make_problem(
        need=[[1], [2], [1]], capacity=[[4], [3], [9]], assignment=[0, 0, 1], evictable=[True, False, False]
    )

    plan = solve(problem, ConsolidateNodes(), Limits(work=0.1), hint=np.array([1, 0, 1]))

    assert not plan.moves

"""Moves that empty nodes in turn, so that whoever evicts node by node can make them."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from descheduler.optimizer import ConsolidateNodes, Limits, MaxSkew, Problem, make_problem, solve
from descheduler.optimizer.order.ordering import Ordered
from descheduler.optimizer.order.replay import replay


def two_zones(*, evictable: bool = True) -> Problem:
    """Nodes 0 and 2 are in zone 0, the others in zone 1. Zone 0 has two pods of a workload that is spread, zone 1 has
    one: those in zone 0 can go to zone 1 alone, where the fewest are, and that in zone 1 to no other zone meanwhile."""
    spread = MaxSkew(
        np.array([0, 0, 0, -1]), np.array([0, 1, 0, 1]), np.array([1]), np.ones((1, 2), bool), holds_first=True
    )
    return make_problem(
        need=[[1]] * 4,
        capacity=[[4]] * 4,
        assignment=[0, 1, 2, 3],
        evictable=[True, evictable, False, False],
        rules=[spread],
    )


def ordered(problem: Problem, assignment: list[int]) -> Ordered:
    return ConsolidateNodes().prepare(problem).ordered(problem, np.array(assignment))


def test_pods_go_to_other_nodes_where_they_may_not_go_to_those_of_the_plan() -> None:
    found = ordered(two_zones(), [2, 3, 2, 3])

    assert found.assignment.tolist() in ([3, 2, 2, 3], [3, 3, 2, 3])
    assert found.blocked == ()
    assert replay(two_zones(), found.waves, found.assignment) == []


def test_nodes_are_emptied_in_an_order_in_which_all_of_them_can_be() -> None:
    """The pod of node 1 may leave its zone once that of node 0 has come there."""
    found = ordered(two_zones(), [3, 2, 2, 3])

    assert found.assignment.tolist() == [3, 2, 2, 3]
    assert [move.pod for wave in found.waves for move in wave] == [0, 1]


def test_pods_of_a_node_that_the_plan_does_not_empty_stay() -> None:
    problem = make_problem(
        need=[[1]] * 4, capacity=[[4]] * 3, assignment=[0, 0, 1, 2], evictable=[True, False, True, False]
    )

    found = ordered(problem, [2, 0, 2, 2])

    assert (found.assignment.tolist(), found.blocked) == ([0, 0, 2, 2], ())


def test_pods_of_nodes_that_cannot_be_emptied_in_turn_are_blocked() -> None:
    """Pods that are full on nodes that are to be empty have no other place."""
    problem = make_problem(
        need=[[3], [3], [1]],
        capacity=[[4], [4], [4]],
        assignment=[0, 1, 2],
        evictable=[True, True, False],
    )

    found = ordered(problem, [2, 2, 2])

    assert (len(found.blocked), sorted(found.assignment.tolist())) in ((1, [0, 2, 2]), (1, [1, 2, 2]))


def test_a_node_without_pods_is_opened_for_no_other_pod() -> None:
    goal = ConsolidateNodes(receives=np.array([False, False, True, True])).prepare(
        problem := make_problem(need=[[2], [2]], capacity=[[2], [2], [4], [4]], assignment=[0, 1])
    )

    found = goal.ordered(problem, np.array([3, 3]))

    assert found.assignment.tolist() == [3, 3]


def test_the_moves_of_a_plan_are_node_by_node() -> None:
    rng = np.random.default_rng(0)
    problem = make_problem(rng.integers(1, 4, (40, 1)), np.full((12, 1), 16), rng.integers(12, size=40))

    plan = solve(problem, ConsolidateNodes(), Limits(work=0.2))

    sources = [source for source, _ in groupby(move.source for move in plan.moves)]
    assert len(sources) > 1
    assert len(sources) == len(set(sources))

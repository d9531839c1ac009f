"""Which nodes can be emptied beside what others have, which pods go home, and how many nodes pieces have."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import ConsolidateNodes, Limits, MoveLimit, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.consolidate_nodes import MostAllocated
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains


@pytest.mark.parametrize(("size", "can_empty"), [(3, True), (4, False)])
def test_pods_of_nodes_that_can_be_emptied_fit_beside_the_pods_of_another_node(size: int, can_empty: bool) -> None:
    """Nodes of 9, of which node 1 has a pod of 6."""
    problem = make_problem([[size], [6]], [[9], [9]], [0, 1])

    drains = Drains(problem, problem.capacity, np.zeros(2, bool), np.zeros(2, bool))

    assert drains.can_empty.tolist() == [can_empty, can_empty]


def test_pods_go_home_whose_node_is_not_emptied_where_they_have_room() -> None:
    """Node 0 is emptied. Of node 1 two pods have left, of which pod 2 has lost its place to pod 5."""
    problem = make_problem([[1], [1], [4], [1], [1], [4]], [[9], [6], [20], [9]], [0, 0, 1, 1, 1, 3])
    placement = Arrangement(problem)
    for pod, node in ((0, 2), (1, 2), (2, 2), (3, 2), (5, 1)):
        placement.move(pod, node)
    goal = ConsolidateNodes(protected=np.array([False, False, False, True])).prepare(problem)

    goal.tidy(placement)

    assert placement.at.tolist() == [2, 2, 2, 1, 1, 1]


@pytest.mark.parametrize(
    ("num_pods", "of_node", "num_nodes"),
    [
        pytest.param(40, 10, 2, id="a third node would have more than 70 %"),
        pytest.param(20, 7, 2, id="70 % at most"),
        pytest.param(40, 5, 5, id="more than half"),
        pytest.param(60, 5, 6, id="six nodes at most"),
        pytest.param(4, 5, 1, id="one node in any case"),
    ],
)
def test_pieces_have_nodes_that_might_be_emptied_until_these_have_more_than_half_of_the_pods(
    num_pods: int, of_node: int, num_nodes: int
) -> None:
    nodes = np.arange(12)
    problem = make_problem([[1]] * (12 * of_node), [[30]] * 12, np.repeat(nodes, of_node))
    goal = ConsolidateNodes().prepare(problem)

    for seed in range(5):
        piece = goal.neighbourhood(Arrangement(problem), np.random.default_rng(seed), num_pods)
        assert piece is not None
        assert len(piece.pods) == num_nodes * of_node


def test_pieces_have_emptied_nodes_in_turn_with_others() -> None:
    """Nodes 0 and 1 are emptied."""
    problem = make_problem([[1]] * 8, [[30]] * 8, np.arange(8))
    placement = Arrangement(problem)
    for pod in (0, 1):
        placement.move(pod, 7)
    goal = ConsolidateNodes().prepare(problem)

    piece = goal.neighbourhood(placement, np.random.default_rng(0), 6)

    assert piece is not None
    assert {0, 1} <= set(piece.pods.tolist())
    assert len(piece.pods) == 4


def test_scores_are_of_the_resources_with_a_weight() -> None:
    """Node 0 is full of the second resource, which counts three times; the first one does not count in the second."""
    free = np.array([[8.0, 2.0], [0.0, 5.0]])

    assert MostAllocated(np.full((2, 2), 10), np.array([1, 3])).scores(free, np.array([2.0, 0.0])).tolist() == [85, 62]
    assert MostAllocated(np.full((2, 2), 10), np.array([1, 0])).scores(free, np.array([2.0, 0.0])).tolist() == [40, 100]


def test_a_search_for_scheduled_drains_ends_once_no_more_can_be_emptied() -> None:
    """Limits let one node be emptied."""
    problem = make_problem([[1]] * 4, [[9]] * 4, np.arange(4), rules=[MoveLimit(np.zeros(4, np.int64), np.array([1]))])
    budget = Budget(Limits(work=1e9))

    drains = (
        ConsolidateNodes()
        .prepare(problem)
        .scheduled((), (), MostAllocated(problem.capacity, np.array([1])), budget, np.random.default_rng(0))
    )

    assert len(drains) == 1
    assert budget.spent < 1e-3

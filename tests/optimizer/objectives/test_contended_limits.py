"""Budgets that not all nodes can be emptied within: which emptied nodes have taken what others lack."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import MoveLimit, Problem, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.objectives.consolidate_nodes.contended_limits import ContendedLimits
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains


@pytest.fixture
def problem() -> Problem:
    """Nodes 0 and 1 have a pod of budget 0 each, node 2 one of budget 1; other pods are of none."""
    return make_problem(
        need=[[1]] * 5,
        capacity=[[9]] * 4,
        assignment=[0, 1, 2, 2, 3],
        rules=[MoveLimit(np.array([0, 0, 1, -1, -1]), np.array([1, 1]))],
    )


def test_an_emptied_node_is_in_the_way_of_one_that_lacks_its_budget(problem: Problem) -> None:
    nodes = np.zeros(4, bool)
    contended = ContendedLimits(Drains(problem, problem.capacity, protected=nodes, receives=nodes))
    placement = Arrangement(problem)
    for pod in (0, 2, 3):
        placement.move(pod, 3)

    assert contended.in_the_way(placement, np.array([1]), np.array([0, 2])).tolist() == [1.0, 0.0]
    assert contended.in_the_way(placement, np.array([3]), np.array([0, 2])).tolist() == [0.0, 0.0]


def test_limits_leave_what_was_not_moved(problem: Problem) -> None:
    """Budget 0 may lose one of two pods; budget 1 is in the way of none, and is left out."""
    nodes = np.zeros(4, bool)
    contended = ContendedLimits(Drains(problem, problem.capacity, protected=nodes, receives=nodes))
    placement = Arrangement(problem)

    assert contended.taken.tolist() == [[1, 1, 0, 0]]
    assert contended.left(placement).tolist() == [1]
    for pod, left in ((2, 1), (1, 0), (0, -1)):
        placement.move(pod, 3)
        assert contended.left(placement).tolist() == [left]

"""Fragmentation: which pieces of the cluster are solved anew."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer import Limits, MoveLimit, ReduceFragmentation, make_problem, solve
from descheduler.optimizer.arrangement import Arrangement


def test_neighbourhoods_rarely_have_several_equal_pods_of_a_node() -> None:
    """Two nodes with ten equal pods each: which of them goes is no question, but sometimes two have to go together."""
    problem = make_problem([[1]] * 20, [[12], [15]], [0] * 10 + [1] * 10)
    objective = ReduceFragmentation(resource=0, classes=np.array([[4]])).prepare(problem)
    placement, rng = Arrangement(problem), np.random.default_rng(0)

    drawn = [objective.neighbourhood(placement, rng, 40) for _ in range(200)]

    most = [int(np.bincount(problem.assignment[each.pods]).max()) for each in drawn if each is not None]
    assert len(most) == 200
    assert 0.8 < np.mean(np.array(most) == 1) < 0.98


def test_neighbourhood_has_a_pod_of_every_kind_of_its_nodes() -> None:
    """Pods that need other amounts, may be elsewhere or cost more are of another kind."""
    problem = make_problem(
        [[1], [1], [2], [1], [1]],
        [[9], [9]],
        [0] * 5,
        cost=[1, 1, 1, 5, 1],
        pod_class=[0, 0, 0, 0, 1],
        allowed=np.ones((2, 2), bool),
    )
    objective = ReduceFragmentation(resource=0, classes=np.array([[4]])).prepare(problem)

    drawn = objective.neighbourhood(Arrangement(problem), np.random.default_rng(1), 40)

    assert drawn is not None
    assert {2, 3, 4} <= set(drawn.pods.tolist())
    assert {0, 1} & set(drawn.pods.tolist())


def test_small_clusters_are_planned_as_a_whole() -> None:
    """Pods that request CPU and GPUs on seven nodes of 10 and 8. An exact model strands 162 GPUs at least,
    with four evictions; neighbourhoods alone end with seven."""
    need = [[4, 1], [2, 1], [1, 2], [2, 4], [4, 1], [2, 1], [2, 2], [2, 4], [3, 1], [2, 0], [3, 1]]
    budgets = MoveLimit(np.array([0, 0, 1, -1, -1, 1, 1, -1, -1, -1, 0]), np.array([3, 3]))
    problem = make_problem(need, [[10, 8]] * 7, [0, 0, 1, 1, 1, 2, 4, 4, 5, 6, 6], rules=[budgets])
    classes = np.array([[3, 1], [2, 2], [2, 4]])

    plan = solve(problem, ReduceFragmentation(1, classes, np.array([6, 2, 2])), Limits(work=1.0))

    assert plan.value == (162, 4)

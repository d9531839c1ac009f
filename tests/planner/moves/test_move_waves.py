"""The waves in which moves are made, and how reports tell their number."""

from __future__ import annotations

import pytest

from descheduler.optimizer.problem import make_problem
from descheduler.planner.moves.move_waves import MoveWaves
from descheduler.planner.problem.cluster_problem import ClusterProblem
from tests.builders import make_pod


@pytest.mark.parametrize("first", [1, 4], ids=["the first plan", "a plan after another"])
@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        pytest.param("a", "1 wave (at least 1 is needed)", id="one node"),
        pytest.param("abc", "3 waves (at least 3 are needed)", id="a wave for each node"),
        pytest.param("aba", "3 waves (at least 2 are needed)", id="a node in two waves"),
    ],
)
def test_waves_are_counted_from_the_first_of_the_plan(first: int, nodes: str, text: str) -> None:
    pods = [make_pod(f"p{number}", node=node) for number, node in enumerate(nodes)]
    problem = make_problem([[1]] * len(pods), [[9]] * 3, ["abc".index(node) for node in nodes])
    waves = MoveWaves(ClusterProblem(problem, pods, "abc", ["cpu"], problem.capacity), first, nodes_at_once=1)

    numbers = [waves.of(pod, None) for pod in pods]

    assert numbers == list(range(first, first + len(nodes)))
    assert waves.text == text

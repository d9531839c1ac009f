"""What the goal says of more nodes than it names that cannot be drained."""

from __future__ import annotations

import pytest

from tests.builders import make_node, make_pod
from tests.planner.runs import goal_of, run_objective


@pytest.mark.parametrize(
    ("number", "rest"), [(10, ""), (11, "; 1 more node cannot be drained"), (12, "; 2 more nodes cannot be drained")]
)
def test_ten_nodes_are_named_and_how_many_more_there_are(number: int, rest: str) -> None:
    nodes = [make_node(f"n{place:02}", cpu="4", unschedulable=True) for place in range(number)]
    pods = [make_pod(f"p{place}", node=f"n{place:02}", owners=[]) for place in range(number)]

    goal = goal_of(
        run_objective("drainNodes", [*nodes, make_node("free")], pods, args={"nodes": [node.name for node in nodes]})
    )

    assert len(goal.blocked_nodes) == 10
    assert goal.sentence.endswith(f"the pod has no owner that recreates it{rest}")

"""What the goal says where none of the pods can be evicted."""

from __future__ import annotations

from descheduler.model.pod import Pod
from tests.builders import make_node, make_pod
from tests.planner.runs import goal_of, run_objective

NODES = [make_node(name, cpu="10") for name in "ab"]


def bare(name: str, node: str) -> Pod:
    """A pod that nobody creates again."""
    return make_pod(name, cpu="1", node=node, owners=[])


def test_one_pod_is_an_example_where_each_has_another_reason() -> None:
    pods = [make_pod("local", cpu="1", node="a", volumes=[{"name": "v", "emptyDir": {}}]), bare("p", "b")]

    assert goal_of(run_objective("consolidateNodes", NODES, pods)).sentence == (
        "2 nodes in use → 2 with 0 evictions; 0 of 2 pods can be evicted (for example pod default/local: the pod has"
        " local storage (a hostPath or emptyDir volume))"
    )


def test_the_goal_says_why_most_of_the_pods_stay() -> None:
    pods = [
        make_pod("local", cpu="1", node="a", volumes=[{"name": "v", "emptyDir": {}}]),
        bare("p", "a"),
        bare("q", "b"),
    ]

    decisions = run_objective("consolidateNodes", NODES, pods)

    assert decisions.moves == ()
    assert goal_of(decisions).sentence == (
        "2 nodes in use → 2 with 0 evictions; 0 of 3 pods can be evicted"
        " (2 like pod default/p: the pod has no owner that recreates it)"
    )

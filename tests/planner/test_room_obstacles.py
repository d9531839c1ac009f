"""What keeps nodes from having room for pending pods: pods that stay, and such as the scheduler places there again."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from tests.builders import Object, make_node, make_pod, owner, preferred_node_affinity
from tests.planner.objective_over import Asked, objective_over
from tests.planner.runs import goal_of, run_objective

NODES = [make_node(name, cpu="10", labels={"name": name}) for name in "ab"]


def pod(name: str, cpu: str, node: str = "a", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **{"owners": [f"ReplicaSet/{name}"], "priority": 0, **facts})


RETURNS: Object = {"affinity": preferred_node_affinity(("name", "a", 100))}


def room(pods: list[Pod], cpu: str = "6") -> Asked:
    """A pod of so many cores waits for node a; what returns to its node is known as after a search."""
    waits = pod("waits", cpu, "", phase="Pending", priority=100, node_selector={"name": "a"})
    asked = objective_over("makeRoom", NODES, [*pods, waits])
    asked.objective.promising(asked.cluster, asked.cluster.problem)
    return asked


def text(asked: Asked) -> str:
    said: str = asked.objective.obstacle_of(asked.pod("waits"))
    return said.removesuffix("; other nodes: 1 closed to the pod")


@pytest.mark.parametrize(
    ("sizes", "is_named"),
    [
        pytest.param({"p": "2", "bare": "5"}, False, id="less than is short"),
        pytest.param({"p": "2", "q": "1", "bare": "4"}, True, id="as much together with one that can leave"),
        pytest.param({"p": "1", "q": "1", "bare": "5"}, False, id="less than that"),
    ],
)
def test_a_pod_that_returns_is_named_where_it_alone_keeps_room_away(sizes: dict[str, str], is_named: bool) -> None:
    """Pod p returns, pod q can leave, and the bare pod stays. The node is 3 cores short."""
    facts: dict[str, Object] = {"p": RETURNS, "bare": {"owners": []}}
    asked = room([pod(name, cpu, **facts.get(name, {})) for name, cpu in sizes.items()])

    said = text(asked)

    assert said.startswith(
        f"3 CPU short on node a, where pod default/{'p' if is_named else 'bare'} cannot be evicted: "
    )
    assert is_named is ("the replacement pod would be scheduled onto a again; a scheduler that scores" in said)


def test_a_pod_is_named_that_has_nowhere_to_go() -> None:
    """Node b is full."""
    asked = room([pod("p", "7"), pod("full", "10", "b", owners=[])])

    assert text(asked).startswith(
        "3 CPU short on node a, where pod default/p cannot be evicted: 0/2 nodes are available"
    )
    assert asked.objective.why_not(asked.pod("p")).startswith("the pod cannot be evicted: 0/2 nodes are available")


def test_a_pod_for_which_none_is_created_keeps_no_room_away() -> None:
    idle = Workload("ReplicaSet", "default", "idle", "idle", 0)
    pods = [pod("p", "7", owners=[owner("ReplicaSet/idle", uid="idle")]), pod("full", "10", "b", owners=[])]
    waits = pod("waits", "6", "", phase="Pending", priority=100, node_selector={"name": "a"})

    asked = objective_over("makeRoom", NODES, [*pods, waits], workloads={"idle": idle})

    assert text(asked) == ""


def test_nodes_on_which_no_plan_places_pods_are_counted_and_are_not_the_nearest() -> None:
    """Node leaving lacks least, and is about to be drained by its owner."""
    nodes = [make_node("a", cpu="6"), make_node("leaving", cpu="6", conditions=["DrainInProgress"])]
    pods = [
        pod("p", "5", owners=[]),
        pod("q", "3", "leaving", owners=[]),
        pod("small", "500m"),
        pod("waits", "6", "", phase="Pending"),
    ]

    goal = goal_of(run_objective("makeRoom", nodes, pods, args={"for": "pending"}))

    assert (
        "pod default/waits: 5500m CPU short on node a, where pod default/p cannot be evicted: the pod has no owner that"
        " recreates it; other nodes: 1 receiving no pods of the plan"
    ) in goal.sentence

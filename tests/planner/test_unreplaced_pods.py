"""Pods for which nothing is created once they are evicted, such as those of a ReplicaSet with 0 replicas."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.groups.workloads import Workload
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.policy.load import load_policy
from tests.builders import NOW, Object, make_node, make_pod, make_snapshot, owner
from tests.planner.choosing import choosing_policy, targets
from tests.planner.runs import goal_of, run_objective
from tests.strategies.runs import evicted

NODES = [make_node(name, cpu="4") for name in "ab"]
WORKLOADS = {"idle": Workload("ReplicaSet", "default", "idle", "idle", 0)}


def idle(node: str, cpu: str) -> Pod:
    return make_pod(f"idle-{node}", cpu=cpu, node=node, owners=[owner("ReplicaSet/idle", uid="idle")])


def web(node: str, cpu: str, **facts: Any) -> Pod:
    return make_pod(f"web-{node or 'pending'}-{cpu}", cpu=cpu, node=node, **facts)


def run(key: str, pods: list[Pod], args: Object | None = None, nodes: list[Node] = NODES) -> Any:
    return run_objective(key, nodes, pods, args=args, workloads=WORKLOADS)


def test_a_node_is_drained_of_them_where_no_other_node_has_room() -> None:
    nodes = [make_node("a", cpu="4", unschedulable=True), NODES[1]]

    decisions = run("drainNodes", [idle("a", "4"), web("b", "4")], {"nodes": ["a"]}, nodes)

    assert [(move.pod.name, move.to_node) for move in decisions.moves] == [("idle-a", None)]
    assert (goal_of(decisions).levels[0].after, goal_of(decisions).status) == (0, "optimal")


@pytest.mark.parametrize("key", ["drainNodes", "consolidateNodes"])
def test_they_leave_with_pods_for_which_the_plan_chooses_nodes(key: str) -> None:
    """The scheduler would return pod web to node a, which is the emptiest once both have left."""
    nodes = [make_node(name, cpu="9") for name in "abc"]
    args: Object = {"nodes": ["a"]} if key == "drainNodes" else {}
    stay = (make_pod(f"stays-{node}", cpu="7", node=node, owners=[]) for node in "bc")
    pods = [idle("a", "2"), make_pod("web", cpu="2", node="a", owners=["ReplicaSet/web"]), *stay]
    web_set = Workload("ReplicaSet", "default", "web", pods[1].owners[0].uid, 1)

    decisions = decide(
        load_policy(choosing_policy({key: args}), REGISTRY),
        make_snapshot(nodes, pods, workloads={**WORKLOADS, web_set.uid: web_set}),
        now=NOW,
    )

    assert sorted(targets(decisions)) == ["idle-a", "web"]
    assert goal_of(decisions).status == "optimal"


def test_a_node_is_emptied_of_them() -> None:
    decisions = run("consolidateNodes", [idle("a", "2"), web("b", "4")])

    assert evicted(decisions) == ["idle-a"]


def test_a_node_is_emptied_of_them_although_that_leaves_their_zone_without_pods() -> None:
    """Zone 1 has two pods that are spread, and zone 2 has the idle one."""
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }
    facts: Object = {"labels": {"app": "x"}, "spread": [spread]}
    nodes = [make_node(name, cpu="4", labels={"zone": zone}) for name, zone in (("a", "1"), ("b", "2"))]
    idle_one = make_pod("idle", cpu="1", node="b", owners=[owner("ReplicaSet/idle", uid="idle")], **facts)
    pods = [make_pod(f"p{number}", cpu="1", node="a", owners=[], **facts) for number in range(2)]

    assert evicted(run("consolidateNodes", [idle_one, *pods], nodes=nodes)) == ["idle"]


def test_they_make_room_for_a_pending_pod_by_fewer_evictions_than_others() -> None:
    """Two pods of 1 cpu could leave a for b, too."""
    nodes = [make_node("a", cpu="4"), make_node("b", cpu="6")]
    pending = web("", "4", phase="Pending")

    decisions = run("makeRoom", [web("a", "1"), web("a", "1.5"), idle("b", "3"), pending], nodes=nodes)

    assert evicted(decisions) == ["idle-b"]
    assert goal_of(decisions).status == "optimal"


@pytest.mark.parametrize(
    ("key", "args"),
    [
        ("balanceUtilization", {"targetThresholds": {"cpu": 70}}),
        ("reduceCost", {"nodeCost": {"label": "price"}}),
    ],
)
def test_nothing_is_proven_for_objectives_whose_plans_have_no_pod_leave_for_nowhere(key: str, args: Object) -> None:
    nodes = [make_node(name, cpu="4", labels={"price": price}) for name, price in (("a", "3"), ("b", "1"))]

    goal = goal_of(run(key, [idle("a", "2"), web("a", "2"), web("b", "4")], args, nodes))

    assert (goal.evictions, goal.levels[0].bound, goal.status) == (0, 0, "feasible")
    assert "no plan does better" not in goal.sentence

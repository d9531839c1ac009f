"""What plugins of a DeschedulerConfiguration see of moves that were granted before: both of their ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.groups.workloads import Workload
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from tests.builders import NOW, Object, make_node, make_pod, make_snapshot

HOUR, DAY = 3600, 86400
UTILIZATION: Object = {"thresholds": {"cpu": 30}, "targetThresholds": {"cpu": 50}}
UNLIMITED = {
    "maxMigratingPerNode": 0,
    "maxMigratingPerWorkload": 100,
    "maxUnavailablePerWorkload": 100,
    "objectLimiters": {"workload": {"duration": "0s"}},
    "skipCheckExpectedReplicas": True,
    "defaultJobMode": "EvictDirectly",
}


def pods_on(node: str, count: int, *, age: float = HOUR, **facts: Any) -> list[Pod]:
    return [make_pod(f"{node}-{index}", node=node, cpu="1", age=age, **facts) for index in range(count)]


def run(
    nodes: Sequence[Node], pods: Sequence[Pod], balance: str, *, verifies: bool = True, **args: object
) -> Decisions:
    """A run in which PodLifeTime evicts pods older than two hours, and then `balance` looks at what is left."""
    configs = [
        {"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 2 * HOUR}},
        {"name": balance, "args": args},
        {"name": "MigrationController", "args": UNLIMITED},
    ]
    plugins = {"deschedule": {"enabled": [{"name": "PodLifeTime"}]}, "balance": {"enabled": [{"name": balance}]}}
    if not verifies:
        plugins["filter"] = {"disabled": [{"name": "PlacementVerification"}]}
    document = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration",
        "profiles": [{"name": "p", "pluginConfig": configs, "plugins": plugins}],
    }
    web = Workload("ReplicaSet", "default", "web", "replicaset-web", len(pods))
    return decide(load_policy(document, REGISTRY), make_snapshot(nodes, pods, workloads={web.uid: web}), now=NOW)


def evicted_by(decisions: Decisions, plugin: str) -> list[str]:
    return [booked.pod.name for booked in decisions.moves if booked.plugin == plugin]


@pytest.mark.parametrize(
    ("verifies", "expected"),
    [
        pytest.param(True, 0, id="known arrivals fill their node"),
        pytest.param(False, 4, id="of unknown landings only the departure counts"),
    ],
)
def test_low_node_utilization_sees_what_is_to_arrive(verifies: bool, expected: int) -> None:
    nodes = [make_node("full", cpu="10"), make_node("empty", cpu="10"), make_node("left", cpu="10", unschedulable=True)]
    pods = [*pods_on("full", 9), *pods_on("left", 6, age=DAY)]

    decisions = run(nodes, pods, "LowNodeUtilization", verifies=verifies, **UTILIZATION)

    assert len(evicted_by(decisions, "PodLifeTime")) == 6
    assert len(evicted_by(decisions, "LowNodeUtilization")) == expected


def test_what_is_to_arrive_is_neither_evicted_nor_reported() -> None:
    nodes = [make_node("small", cpu="7"), make_node("empty", cpu="20"), make_node("left", cpu="10", unschedulable=True)]
    pods = [*pods_on("left", 6, age=DAY), make_pod("taken", node="empty", cpu="18", owners=["DaemonSet/x"])]

    decisions = run(nodes, pods, "LowNodeUtilization", **UTILIZATION)

    known = {id(pod) for pod in pods}
    judged = [move.pod for move in decisions.moves] + [refusal.pod for refusal in decisions.refusals]
    assert len(evicted_by(decisions, "PodLifeTime")) == 6
    assert all(id(pod) in known for pod in judged)


def test_duplicates_count_what_is_to_arrive() -> None:
    nodes = [make_node("a", cpu="2"), make_node("b", cpu="4"), make_node("left", unschedulable=True)]
    pods = [*pods_on("a", 2), *pods_on("left", 2, age=DAY)]

    decisions = run(nodes, pods, "RemoveDuplicates")

    assert len(evicted_by(decisions, "PodLifeTime")) == 2
    assert evicted_by(decisions, "RemoveDuplicates") == []


def test_spread_counts_what_is_to_arrive() -> None:
    nodes = [make_node(name, cpu="4", labels={"zone": name}) for name in ("a", "b")]
    nodes.append(make_node("left", unschedulable=True))
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]
    facts: dict[str, Any] = {"labels": {"app": "web"}, "spread": spread}
    pods = [*pods_on("a", 2, **facts), *pods_on("left", 2, age=DAY, **facts)]

    decisions = run(nodes, pods, "RemovePodsViolatingTopologySpreadConstraint")

    assert len(evicted_by(decisions, "PodLifeTime")) == 2
    assert evicted_by(decisions, "RemovePodsViolatingTopologySpreadConstraint") == []
    assert decisions.refusals == ()

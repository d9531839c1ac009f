"""The ready-to-run policy for cheaper nodes, with MigrationController and the placement verified."""

from __future__ import annotations

from pathlib import Path

from descheduler import evaluate
from tests.builders import NOW, Object, node_object, pod_object

EXAMPLE = Path(__file__).parents[2] / "config" / "profiles" / "koordinator-cheaper-nodes.yaml"
POOL = "example.com/pool"


def replica_set(name: str, replicas: int) -> Object:
    """A ReplicaSet whose pods are all there."""
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": "default", "uid": f"replicaset-{name}"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}},
    }


def cluster(*gpu_taints: str) -> list[Object]:
    """Four pods of a workload on a GPU node, and an empty CPU node."""
    nodes = [
        node_object("dear", labels={POOL: "gpu"}, taints=gpu_taints),
        node_object("cheap", labels={POOL: "cpu"}),
    ]
    pods = [pod_object(f"web-{n}", node="dear", cpu="500m", labels={"app": "web"}) for n in range(4)]
    return [*nodes, *pods, replica_set("web", 4)]


def test_a_pod_of_each_workload_moves_to_the_cheaper_node() -> None:
    result = evaluate(EXAMPLE, cluster("price=high:PreferNoSchedule"), now=NOW)

    assert [(move.name, move.plugin, move.target_node) for move in result.evictions] == [
        ("web-0", "CustomPriority", "cheap")
    ]


def test_a_pod_that_would_come_back_stays() -> None:
    objects = cluster()
    objects[1]["spec"]["taints"] = [{"key": "price", "value": "low", "effect": "PreferNoSchedule"}]
    objects.append(pod_object("full", node="cheap", cpu="3", owners=["DaemonSet/agent"]))

    result = evaluate(EXAMPLE, objects, now=NOW)

    assert result.evictions == ()
    assert {refusal.code for refusal in result.refusals if refusal.plugin == "CustomPriority"} == {"ReturnsToSource"}

"""What blocks draining a node, by the rules of kubectl drain and the budgets."""

from __future__ import annotations

from descheduler.explanation.subjects.node.node import drain_blockers
from tests.builders import Object, node_object, pod_object
from tests.explanation.questions import cluster_of


def blockers(*objects: Object) -> list[tuple[str, str]]:
    """(pod, blocker) of a node with these pods."""
    snapshot = cluster_of(node_object("a"), *objects)
    return [(found.pod.name, found.blocker) for found in drain_blockers(snapshot.pods_by_node["a"], snapshot)]


def budget(allowed: int) -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default", "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {
            "observedGeneration": 1,
            "disruptionsAllowed": allowed,
            "currentHealthy": 2,
            "desiredHealthy": 2 - allowed,
            "expectedPods": 2,
        },
    }


def test_replicated_pods_without_a_budget_block_nothing() -> None:
    assert blockers(pod_object("web")) == []


def test_a_budget_blocks_the_pods_beyond_what_it_allows() -> None:
    pods = [pod_object(name, labels={"app": "web"}) for name in ("one", "two")]

    assert blockers(*pods, budget(1)) == [("two", "PodDisruptionBudget")]


def test_bare_pods_local_storage_and_daemons_need_flags_of_kubectl_drain() -> None:
    cache = {"name": "cache", "emptyDir": {}}

    assert blockers(
        pod_object("agent", owners=["DaemonSet/agent"], volumes=[cache]),
        pod_object("bare", owners=()),
        pod_object("cache", volumes=[cache]),
    ) == [("agent", "DaemonSet"), ("bare", "BarePod"), ("cache", "LocalStorage")]


def test_mirror_pods_stay_on_a_drained_node_and_block_nothing() -> None:
    assert blockers(pod_object("proxy", owners=(), annotations={"kubernetes.io/config.mirror": "x"})) == []

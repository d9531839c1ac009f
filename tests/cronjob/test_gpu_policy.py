"""What the policy of the gpu overlay moves, and what it leaves."""

from __future__ import annotations

from descheduler import evaluate
from tests.builders import NOW, Object, node_object, pod_object
from tests.cronjob.manifests import OVERLAYS

GPU = "nvidia.com/gpu"
POLICY = OVERLAYS / "gpu" / "policy.yaml"


def gpu_node(name: str) -> Object:
    """A node with eight GPUs, as NVIDIA's feature discovery labels it."""
    return node_object(name, allocatable={GPU: "8"}, labels={f"{GPU}.present": "true"})


def gpu_pod(name: str, node: str, *, gpus: str) -> Object:
    """A pod of ReplicaSet `model` that uses GPUs."""
    return pod_object(name, node=node, requests={GPU: gpus}, owners=["ReplicaSet/model"])


def evicted(*objects: Object) -> list[str]:
    """Names of the pods that leave."""
    return [eviction.name for eviction in evaluate(POLICY, objects, NOW).evictions]


def test_hardly_used_gpu_node_is_emptied_of_gpu_pods_alone() -> None:
    pods = [gpu_pod("few", "idle", gpus="1"), gpu_pod("many", "busy", gpus="6"), pod_object("plain", node="idle")]

    assert evicted(gpu_node("idle"), gpu_node("busy"), *pods) == ["few"]


def test_gpu_pod_stays_where_no_other_gpu_node_has_room() -> None:
    pods = [gpu_pod("few", "idle", gpus="2"), gpu_pod("many", "busy", gpus="7")]

    assert evicted(gpu_node("idle"), gpu_node("busy"), node_object("plain"), *pods) == []


def test_nodes_without_gpus_are_not_looked_at() -> None:
    pods = [pod_object(name, node="a", cpu="100m") for name in ("p1", "p2")]

    assert evicted(node_object("a"), node_object("b"), gpu_node("g1"), gpu_node("g2"), *pods) == []

"""Clusters with measured usage, by metrics server or Prometheus, for the strategies of Volcano."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from descheduler import evaluate
from descheduler.evaluation import Evaluation
from tests.builders import NOW, Object, node_object


def big_node(name: str, **facts: Any) -> Object:
    """A node with a capacity of 16 cores and 16,000 bytes, of which pods can have 15.5 cores."""
    node = node_object(name, cpu="15500m", memory="16000", **facts)
    node["status"]["capacity"] = {"cpu": "16", "memory": "16000", "pods": "110"}
    return node


def measured_node(name: str, cpu: str, memory: str = "0") -> Object:
    """What the metrics server measured on a node."""
    metadata = {"name": name}
    return {
        "apiVersion": "metrics.k8s.io/v1beta1",
        "kind": "NodeMetrics",
        "metadata": metadata,
        "usage": {"cpu": cpu, "memory": memory},
    }


def measured_pod(name: str, cpu: str, memory: str = "0") -> Object:
    """What it measured of a pod with one container."""
    metadata = {"name": name, "namespace": "default"}
    containers = [{"name": "c", "usage": {"cpu": cpu, "memory": memory}}]
    return {
        "apiVersion": "metrics.k8s.io/v1beta1",
        "kind": "PodMetrics",
        "metadata": metadata,
        "containers": containers,
    }


def run_measured(
    plugin: str,
    objects: Iterable[Object],
    args: Object,
    *,
    compatibility: str = "fixed",
    samples: Mapping[str, Mapping[str, float]] | None = None,
    **settings: Any,
) -> Evaluation:
    """One run of the plugin beside DefaultEvictor."""
    profile = {
        "name": "p",
        "pluginConfig": [{"name": "DefaultEvictor", "args": {}}, {"name": plugin, "args": args}],
        "plugins": {"balance": {"enabled": [plugin]}},
    }
    policy = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "compatibility": compatibility,
        "profiles": [profile],
        **settings,
    }
    return evaluate(policy, list(objects), now=NOW, node_samples=samples)

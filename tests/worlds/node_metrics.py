"""NodeMetrics of Koordinator for clusters that have none: what pods use, and what the system uses beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random

from descheduler.cluster.decoding.koordinator.node_metric import NodeMetricDecoder
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.koordinator.node_metric import NodeMetric
from descheduler.model.quantity import format_quantity, parse_quantity
from descheduler.model.requests import CPU, MEMORY
from tests.builders import NOW, Object

__all__ = ["make_node_metric", "metrics_by_node", "node_metric_object", "random_node_metrics"]

Usage = Mapping[str, str]
"""Resource name → quantity."""


def node_metric_object(
    node: str,
    pods: Mapping[str, Usage] | None = None,
    *,
    system: Usage | None = None,
    age: float | None = 60,
    now: datetime = NOW,
    is_measured: bool = True,
) -> Object:
    """A NodeMetric, a minute old: usage of pods by `namespace/name`, of the system, and of the node as their sum."""
    status: Object = {"podsMetric": [_pod_metric(key, usage) for key, usage in (pods or {}).items()]}
    if is_measured:
        total = _total([system or {}, *(pods or {}).values()])
        status["nodeMetric"] = {"nodeUsage": {"resources": total}, "systemUsage": {"resources": dict(system or {})}}
    if age is not None:
        status["updateTime"] = (now - timedelta(seconds=age)).isoformat().replace("+00:00", "Z")
    return {
        "apiVersion": "slo.koordinator.sh/v1alpha1",
        "kind": "NodeMetric",
        "metadata": {"name": node},
        "status": status,
    }


def make_node_metric(
    node: str, pods: Mapping[str, Usage] | None = None, *, system: Usage | None = None, age: float | None = 60
) -> NodeMetric:
    """The NodeMetric that `node_metric_object` describes, decoded."""
    metric = node_metric_object(node, pods, system=system, age=age)
    return NodeMetricDecoder().decode(json.dumps(metric).encode())


def metrics_by_node(metrics: Sequence[NodeMetric]) -> Mapping[str, NodeMetric]:
    """The field of a snapshot."""
    return {metric.name: metric for metric in metrics}


def random_node_metrics(snapshot: Snapshot, *, now: datetime, seed: int, hot_share: float = 0.1) -> Iterator[Object]:
    """A NodeMetric a node of `snapshot`: pods use a part of what they request, those of a hot node more than that."""
    random = Random(seed)
    for node in snapshot.nodes:
        factor = 1.3 if random.random() < hot_share else 0.5
        pods = {
            pod.key: _usage(pod.spec.requests, factor * random.uniform(0.7, 1.3))
            for pod in snapshot.pods_by_node.get(node.name, ())
            if not pod.is_terminal
        }
        yield node_metric_object(node.name, pods, system=_usage(node.allocatable, 0.03), age=30, now=now)


def _usage(amounts: Mapping[str, int], factor: float) -> Usage:
    cpu_milli = int(amounts.get(CPU, 10**8) * factor) // 10**6
    memory_bytes = int(amounts.get(MEMORY, 10**17) * factor) // 10**9
    return {CPU: f"{cpu_milli}m", MEMORY: str(memory_bytes)}


def _total(usages: Sequence[Usage]) -> Usage:
    names = dict.fromkeys(name for usage in usages for name in usage)
    return {name: format_quantity(sum(parse_quantity(usage.get(name, "0")) for usage in usages)) for name in names}


def _pod_metric(key: str, usage: Usage) -> Object:
    namespace, _, name = key.rpartition("/")
    return {"namespace": namespace or "default", "name": name, "podUsage": {"resources": dict(usage)}}

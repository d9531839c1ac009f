"""NodeMetrics of Koordinator for clusters that have none: what pods use, and what the system uses beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from descheduler.cluster.decoding.koordinator.node_metric import NodeMetricDecoder
from descheduler.model.koordinator.node_reports import NodeMetric
from descheduler.model.quantity import format_quantity, parse_quantity
from tests.builders import NOW, Object

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


def _total(usages: Sequence[Usage]) -> Usage:
    names = dict.fromkeys(name for usage in usages for name in usage)
    return {name: format_quantity(sum(parse_quantity(usage.get(name, "0")) for usage in usages)) for name in names}


def _pod_metric(key: str, usage: Usage) -> Object:
    namespace, _, name = key.rpartition("/")
    return {"namespace": namespace or "default", "name": name, "podUsage": {"resources": dict(usage)}}

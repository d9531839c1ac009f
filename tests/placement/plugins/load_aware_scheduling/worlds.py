"""Nodes with NodeMetrics, pods that run there, and koord-scheduler over them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from descheduler.cluster.decoding.koordinator.node_metric import NodeMetricDecoder
from descheduler.model.koordinator.node_reports import NODE_METRIC_KIND, NodeMetric
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.koord_scheduler import KOORD_KUBE_VERSION
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.worlds.node_metrics import metrics_by_node, node_metric_object

AGENT = make_pod("koordlet-a", node="a", owners=["DaemonSet/koordlet"])
"""A pod of Koordinator's agent, which measures nodes."""
UNREAD = frozenset({"Node", "Pod"})
"""Kinds of a snapshot without NodeMetrics."""
Usage = Mapping[str, str]


def load_aware_profile(args: Mapping[str, object] | None = None) -> SchedulerProfile:
    """A profile that filters and scores by measured usage and by nothing else, with these arguments."""
    points = ("filter", "score", "preFilter", "reserve")
    return load_scheduler_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [
                {
                    "schedulerName": "koord-scheduler",
                    "pluginConfig": [{"name": "LoadAwareScheduling", "args": dict(args or {})}],
                    "plugins": {
                        "multiPoint": {"disabled": [{"name": "*"}]},
                        "queueSort": {"enabled": [{"name": "PrioritySort"}]},
                        "bind": {"enabled": [{"name": "DefaultBinder"}]},
                        **{point: {"enabled": [{"name": "LoadAwareScheduling"}]} for point in points},
                    },
                }
            ],
        },
        version=KOORD_KUBE_VERSION,
        plugins=PLUGINS,
    ).profiles[0]


def large_node(name: str = "n", annotations: Mapping[str, str] | None = None) -> Node:
    """A node of 96 CPU and 512 GiB; all its annotations are read."""
    return msgspec.structs.replace(make_node(name, cpu="96", memory="512Gi"), annotations=annotations or {})


def koord_pod(name: str = "new", node: str = "", *, annotations: Mapping[str, str] | None = None, **facts: Any) -> Pod:
    """A pod with requests and equal limits, by default one that waits for a node; all its annotations are read."""
    asked = {"cpu": "16", "memory": "32Gi"}
    pod = make_pod(name, node=node, requests=asked, limits=asked, scheduler="koord-scheduler", **facts)
    return msgspec.structs.replace(pod, annotations=annotations or {})


def measured(
    node: str = "n",
    *,
    usage: Usage | None = None,
    pods: Mapping[str, Usage] | None = None,
    prod: Sequence[str] = (),
    age: float | None = 0,
    report_seconds: int | None = None,
    aggregated: Sequence[Mapping[str, object]] = (),
) -> NodeMetric:
    """A NodeMetric with this usage of the node and of pods by `namespace/name`; the `prod` ones are of that class."""
    metric = node_metric_object(node, pods, age=age)
    metric["status"]["nodeMetric"] = {
        "nodeUsage": {"resources": dict(usage or {})},
        "systemUsage": {"resources": {"cpu": "1"}},
        "aggregatedNodeUsages": list(aggregated),
    }
    for each in metric["status"]["podsMetric"]:
        each["priority"] = "koord-prod" if f"{each['namespace']}/{each['name']}" in prod else ""
    if report_seconds is not None:
        metric["spec"] = {"metricCollectPolicy": {"reportIntervalSeconds": report_seconds}}
    return NodeMetricDecoder().decode(json.dumps(metric).encode())


def measured_cluster(
    nodes: Sequence[Node], pods: Sequence[Pod] = (), metrics: Sequence[NodeMetric] = (), **others: Any
) -> ShadowCluster:
    """The shadow cluster of nodes, pods and NodeMetrics, of which all were read."""
    facts = {"taken_at": NOW, "kinds": frozenset({"Node", "Pod", NODE_METRIC_KIND}), **others}
    return shadow_cluster_of(make_snapshot(nodes, pods, node_metrics=metrics_by_node(metrics), **facts), PLUGINS)


def scheduler_of(cluster: ShadowCluster, args: Mapping[str, object] | None = None) -> Scheduler:
    """koord-scheduler with LoadAwareScheduling alone."""
    return Scheduler(cluster, load_aware_profile(args), plugins=PLUGINS)

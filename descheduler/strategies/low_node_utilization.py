"""LowNodeUtilization: pods of overused nodes, while there are underused ones to take them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Args, Int64, Namespaces, UInt, check_exclude_only, check_percentages

__all__ = [
    "KUBERNETES_METRICS",
    "METRIC_RESOURCE",
    "PROMETHEUS",
    "EvictionLimits",
    "LowNodeUtilizationArgs",
    "MetricsUtilization",
    "PrometheusQuery",
    "construction_problems",
    "needed_kinds",
    "validate_args",
]

KUBERNETES_METRICS = "KubernetesMetrics"
PROMETHEUS = "Prometheus"
METRIC_RESOURCE = "MetricResource"
"""The only resource name the Prometheus source knows."""


class PrometheusQuery(Args, frozen=True):
    """The instant query that gives the usage of every node, between 0 and 1."""

    query: str = ""


class MetricsUtilization(Args, frozen=True):
    """Where usage comes from; the pods' requests when absent."""

    metrics_server: bool = False
    """Deprecated spelling of the source `KubernetesMetrics`."""
    source: str = ""
    prometheus: PrometheusQuery | None = None


class EvictionLimits(Args, frozen=True):
    """Bounds of one run of the plugin."""

    node: UInt | None = None


class LowNodeUtilizationArgs(Args, frozen=True):
    """Arguments of LowNodeUtilization. Thresholds are percent of allocatable by resource.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/nodeutilization/types.go`.
    """

    evictable_namespaces: Namespaces | None = None
    thresholds: Mapping[str, float] = msgspec.field(default_factory=dict)
    """A node at or below all of these is underused."""
    target_thresholds: Mapping[str, float] = msgspec.field(default_factory=dict)
    """A node above any of these is overused."""
    use_deviation_thresholds: bool = False
    """Whether the thresholds are distances from the average usage."""
    number_of_nodes: Int64 = 0
    eviction_limits: EvictionLimits | None = None
    metrics_utilization: MetricsUtilization | None = None


def needed_kinds(args: LowNodeUtilizationArgs) -> frozenset[str]:
    """The metrics server's kinds, where usage comes from it."""
    metrics = args.metrics_utilization
    if metrics is None or not (metrics.metrics_server or metrics.source == KUBERNETES_METRICS):
        return frozenset()
    return frozenset(("NodeMetrics", "PodMetrics"))


def validate_args(args: LowNodeUtilizationArgs) -> list[ArgsProblem]:
    """Problems of the namespaces, both threshold maps and how they go together, and the usage source."""
    percentages = [
        *check_percentages("thresholds", args.thresholds),
        *check_percentages("targetThresholds", args.target_thresholds),
    ]
    return [
        *check_exclude_only("evictableNamespaces", args.evictable_namespaces),
        *(percentages or _check_threshold_pairs(args)),
        *(_check_metrics(args.metrics_utilization) if args.metrics_utilization else ()),
    ]


def _check_threshold_pairs(args: LowNodeUtilizationArgs) -> list[ArgsProblem]:
    one_sided = sorted(args.thresholds.keys() ^ args.target_thresholds.keys())
    if one_sided:
        names = ", ".join(repr(name) for name in one_sided)
        return [ArgsProblem(("targetThresholds",), f"names other resources than thresholds: {names} only on one side")]
    if args.use_deviation_thresholds:
        return []
    return [
        ArgsProblem(("thresholds", name), f"{low:g} is above {args.target_thresholds[name]:g}, its target threshold")
        for name, low in sorted(args.thresholds.items())
        if low > args.target_thresholds[name]
    ]


def _check_metrics(metrics: MetricsUtilization) -> list[ArgsProblem]:
    problems = []
    if metrics.source == KUBERNETES_METRICS and metrics.metrics_server:
        message = "is given next to source KubernetesMetrics; drop it, it is the deprecated spelling"
        problems.append(ArgsProblem(("metricsUtilization", "metricsServer"), message))
    if metrics.source == KUBERNETES_METRICS and metrics.prometheus is not None:
        message = "is not used by source KubernetesMetrics; drop it or use source Prometheus"
        problems.append(ArgsProblem(("metricsUtilization", "prometheus"), message))
    if metrics.source == PROMETHEUS and (metrics.prometheus is None or not metrics.prometheus.query):
        message = "is empty, but source Prometheus needs it"
        problems.append(ArgsProblem(("metricsUtilization", "prometheus", "query"), message))
    return problems


def construction_problems(args: LowNodeUtilizationArgs) -> list[ArgsProblem]:
    """What keeps the plugin from being built: thresholds that the Prometheus source cannot measure."""
    if args.metrics_utilization is None or args.metrics_utilization.source != PROMETHEUS:
        return []
    return [
        ArgsProblem((field,), f"source Prometheus measures only {METRIC_RESOURCE}, not {', '.join(sorted(thresholds))}")
        for field, thresholds in (("thresholds", args.thresholds), ("targetThresholds", args.target_thresholds))
        if thresholds.keys() != {METRIC_RESOURCE}
    ]

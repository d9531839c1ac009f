"""LowNodeUtilization: evicts pods from overutilized nodes while underutilized nodes have room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.policy.plugin import ArgsProblem, Needs
from descheduler.policy.shared_args import (
    Args,
    Int64,
    Namespaces,
    Percent,
    UIntOrPercent,
    check_exclude_only,
    check_int_or_percent,
)
from descheduler.strategies.framework import StrategyError
from descheduler.strategies.node_utilization.classify import measure
from descheduler.strategies.node_utilization.overutilized import (
    OverutilizedNodes,
    ReliefRules,
    check_threshold_maps,
    thresholds_around,
)
from descheduler.strategies.node_utilization.usage import (
    METRIC_RESOURCE,
    MetricsServerUsage,
    PrometheusUsage,
    RequestedUsage,
    UsageSource,
    resources_in_play,
)

KUBERNETES_METRICS = "KubernetesMetrics"
PROMETHEUS = "Prometheus"


class PrometheusQuery(Args, frozen=True):
    """The instant query that gives the usage of every node, between 0 and 1."""

    query: str = ""
    """PromQL; the label `instance` of each sample names the node."""


class MetricsUtilization(Args, frozen=True):
    """Where usage comes from; the pods' requests when absent."""

    metrics_server: bool = False
    """Deprecated spelling of the source `KubernetesMetrics`."""
    source: str = ""
    """`KubernetesMetrics` or `Prometheus`; the policy's `metricsProviders` must hold it too."""
    prometheus: PrometheusQuery | None = None
    """For source `Prometheus`."""


class EvictionLimits(Args, frozen=True):
    """Bounds of one run of the plugin."""

    node: UIntOrPercent | None = None
    """Pods that can be evicted from one node; a percentage such as `10%` is one of the pods of the node that have not
    finished, rounded down, and at least 1."""


class LowNodeUtilizationArgs(Args, frozen=True):
    """Arguments of LowNodeUtilization. Thresholds are percent of allocatable by resource.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/nodeutilization/types.go`.
    """

    evictable_namespaces: Namespaces | None = None
    """Namespaces whose pods are not evicted; only `exclude` is allowed."""
    thresholds: Mapping[str, Percent] = msgspec.field(default_factory=dict)
    """A node at or below all of these is underutilized."""
    target_thresholds: Mapping[str, Percent] = msgspec.field(default_factory=dict)
    """A node above any of these is overutilized."""
    use_deviation_thresholds: bool = False
    """Whether the thresholds are distances from the average usage."""
    number_of_nodes: Int64 = 0
    """The plugin acts only when more nodes than this are underutilized."""
    eviction_limits: EvictionLimits | None = None
    """Bounds of one run of the plugin."""
    metrics_utilization: MetricsUtilization | None = None
    """Where usage comes from; the pods' requests when unset."""


def needs(args: LowNodeUtilizationArgs) -> Needs:
    """The metrics server's kinds, where usage comes from it."""
    metrics = args.metrics_utilization
    if metrics is None or not (metrics.metrics_server or metrics.source == KUBERNETES_METRICS):
        return Needs()
    return Needs(frozenset(("NodeMetrics.metrics.k8s.io", "PodMetrics.metrics.k8s.io")))


def validate_args(args: LowNodeUtilizationArgs) -> list[ArgsProblem]:
    """Problems of the namespaces, both threshold maps and how they go together, the limit, and the usage source."""
    return [
        *check_exclude_only("evictableNamespaces", args.evictable_namespaces),
        *check_threshold_maps(args.thresholds, args.target_thresholds, are_distances=args.use_deviation_thresholds),
        *check_int_or_percent(("evictionLimits", "node"), args.eviction_limits.node if args.eviction_limits else None),
        *(_check_metrics(args.metrics_utilization) if args.metrics_utilization else ()),
    ]


def _check_metrics(metrics: MetricsUtilization) -> list[ArgsProblem]:
    problems = []
    if metrics.source == KUBERNETES_METRICS and metrics.metrics_server:
        message = "is the deprecated spelling of source KubernetesMetrics; remove it"
        problems.append(ArgsProblem(("metricsUtilization", "metricsServer"), message))
    if metrics.source == KUBERNETES_METRICS and metrics.prometheus is not None:
        message = "is not used by source KubernetesMetrics; remove it or use source Prometheus"
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


def samples(args: LowNodeUtilizationArgs) -> list[str]:
    """The query of Prometheus that measures usage; none for another source."""
    metrics = args.metrics_utilization
    if metrics is None or metrics.source != PROMETHEUS or metrics.prometheus is None:
        return []
    return [metrics.prometheus.query]


def without_limits(args: LowNodeUtilizationArgs) -> LowNodeUtilizationArgs:
    """`args` without `evictionLimits`."""
    return msgspec.structs.replace(args, eviction_limits=None)


class LowNodeUtilization(OverutilizedNodes):
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/nodeutilization/lownodeutilization.go`."""

    def __init__(self, args: LowNodeUtilizationArgs, handle: StrategyHandle) -> None:
        super().__init__(handle)
        self._args = args

    def balance(self, nodes: Sequence[Node]) -> None:
        """Evicts from overutilized nodes what fits into the free room of all underutilized nodes.

        Raises StrategyError when usage cannot be had.
        """
        args = self._args
        source = self._usage_source()
        loads = measure(nodes, self._handle.view, source)
        stated = args.thresholds, args.target_thresholds
        low, high = thresholds_around(stated, loads if args.use_deviation_thresholds else None)
        limits = args.eviction_limits
        rules = ReliefRules(args.number_of_nodes, limits.node if limits else None, args.evictable_namespaces)
        self._run(loads, source, low, high, rules)

    def _usage_source(self) -> UsageSource:
        metrics = self._args.metrics_utilization
        resources = resources_in_play(self._args.thresholds)
        if metrics is None:
            return RequestedUsage(resources)
        if metrics.metrics_server or metrics.source == KUBERNETES_METRICS:
            return self._metrics_server(resources)
        if metrics.source == PROMETHEUS:
            return self._prometheus(metrics.prometheus.query if metrics.prometheus else "")
        if metrics.source:
            known = f"{KUBERNETES_METRICS}, {PROMETHEUS}"
            raise StrategyError(f"metricsUtilization.source {metrics.source!r} is unrecognized (one of {known})")
        raise StrategyError(f"metricsUtilization.source is empty; name {KUBERNETES_METRICS} or {PROMETHEUS}")

    def _metrics_server(self, resources: tuple[str, ...]) -> UsageSource:
        policy, snapshot = self._handle.policy, self._handle.view.snapshot
        if not policy.metrics_collector_enabled and not self._has_provider(KUBERNETES_METRICS):
            raise StrategyError(f"metrics client not initialized: add {KUBERNETES_METRICS} to metricsProviders")
        return MetricsServerUsage(resources, nodes=snapshot.node_usage, pods=snapshot.pod_usage)

    def _prometheus(self, query: str) -> UsageSource:
        snapshot = self._handle.view.snapshot
        samples = snapshot.node_samples.get(query)
        if not self._has_provider(PROMETHEUS):
            raise StrategyError(f"prometheus client not initialized: add {PROMETHEUS} to metricsProviders")
        if query in snapshot.sample_faults:
            raise StrategyError(snapshot.sample_faults[query])
        if samples is None:
            raise StrategyError(f"prometheus client not initialized: there are no samples of query {query!r}")
        return PrometheusUsage(query, samples)

    def _has_provider(self, source: str) -> bool:
        return any(provider.source == source for provider in self._handle.policy.metrics_providers)

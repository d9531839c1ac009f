"""LowNodeUtilization: evicts pods from overutilized nodes while underutilized nodes have room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.pod_counts import pods_for
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem, Needs
from descheduler.policy.shared_args import (
    Args,
    Int64,
    Namespaces,
    Percent,
    UIntOrPercent,
    check_exclude_only,
    check_int_or_percent,
    check_percentages,
)
from descheduler.strategies.framework import StrategyError
from descheduler.strategies.node_utilization.census import NodeCensus, Stop, no_census, nodes_text
from descheduler.strategies.node_utilization.classify import (
    NodeLoad,
    SettledLoads,
    free_resources,
    is_overused,
    is_underused,
    measure,
    sort_by_usage,
)
from descheduler.strategies.node_utilization.eviction import Destinations, NodeRelief, Relief
from descheduler.strategies.node_utilization.levels import Thresholds
from descheduler.strategies.node_utilization.usage import (
    METRIC_RESOURCE,
    MetricsServerUsage,
    PrometheusUsage,
    RequestedUsage,
    UsageSource,
    resources_in_play,
)
from descheduler.strategies.shared.pod_state import FINISHED

__all__ = [
    "KUBERNETES_METRICS",
    "METRIC_RESOURCE",
    "PROMETHEUS",
    "EvictionLimits",
    "LowNodeUtilization",
    "LowNodeUtilizationArgs",
    "MetricsUtilization",
    "PrometheusQuery",
    "construction_problems",
    "needs",
    "samples",
    "validate_args",
    "without_limits",
]

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
    percentages = [
        *check_percentages("thresholds", args.thresholds),
        *check_percentages("targetThresholds", args.target_thresholds),
    ]
    return [
        *check_exclude_only("evictableNamespaces", args.evictable_namespaces),
        *(percentages or _check_threshold_pairs(args)),
        *check_int_or_percent(("evictionLimits", "node"), args.eviction_limits.node if args.eviction_limits else None),
        *(_check_metrics(args.metrics_utilization) if args.metrics_utilization else ()),
    ]


def _check_threshold_pairs(args: LowNodeUtilizationArgs) -> list[ArgsProblem]:
    one_sided = sorted(args.thresholds.keys() ^ args.target_thresholds.keys())
    if one_sided:
        names = ", ".join(repr(name) for name in one_sided)
        return [ArgsProblem(("targetThresholds",), f"must name the same resources as thresholds; different: {names}")]
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


class LowNodeUtilization:
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/nodeutilization/lownodeutilization.go`."""

    def __init__(self, args: LowNodeUtilizationArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._handle = handle
        self._census = no_census()
        self._stop: Stop | None = None
        self._relief: NodeRelief | None = None
        self._settled: SettledLoads | None = None

    def balance(self, nodes: Sequence[Node]) -> None:
        """Evicts from overutilized nodes what fits into the free room of all underutilized nodes.

        Raises StrategyError when usage cannot be had.
        """
        source = self._usage_source()
        self._settled = SettledLoads(source)
        loads = measure(nodes, self._handle.view, source)
        low, high = self._thresholds(loads)
        underused = [load for load in loads if not load.node.unschedulable and is_underused(load.percent, low.percent)]
        takers = {load.node.name for load in underused}
        overused = [load for load in loads if load.node.name not in takers and is_overused(load.percent, high.percent)]
        census = self._census = NodeCensus(loads, underused, overused, low, high, source.noun)
        self._relief = None
        self._stop = census.check_under(self._args.number_of_nodes) or census.check_over()
        if self._stop is not None:
            return
        limits = self._args.eviction_limits
        node_limit = limits.node if limits else None
        namespaces = self._args.evictable_namespaces
        relief = self._relief = NodeRelief(
            self._handle.evictor,
            source,
            Destinations(
                underused,
                free_resources(underused, high.percent),
                counts_tolerations=self._handle.policy.compatibility == "upstream",
            ),
            node_limit=node_limit,
            num_pods=pods_for((node_limit,), self._handle.view.snapshot).by_node,
            spared_namespaces=frozenset(namespaces.exclude if namespaces else ()),
        )
        relief.charge_departed(load for load in loads if load.node.name not in takers)
        relief.run(
            [
                Relief(load, census.over_sentence(load), load.ceilings(high.percent))
                for load in sort_by_usage(overused, ascending=False)
            ]
        )

    def facts(self) -> PluginFacts:
        """How many nodes are in which class, and how near the nodes are to the thresholds."""
        census, relief = self._census, self._relief
        if relief is None:
            return census.facts(self._stop)
        why = f"{nodes_text(len(census.over))} overutilized, {relief.why_nothing('underutilized')}"
        return census.facts(None, why=why, num_selected=relief.num_selected)

    def why_not(self, pod: Pod) -> str:
        """Why the node of `pod` is not relieved, or not of this pod."""
        if pod.is_terminal:
            return FINISHED
        if why := self._census.why_not_over(pod.node_name):
            return why
        if self._stop is not None or self._relief is None:
            return "" if self._stop is None else self._stop.why
        return f"node {pod.node_name} is overutilized, {self._relief.why_no_more('underutilized')}"

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """What makes the node overutilized with the pod, beside the thresholds of this run."""
        if self._settled is None:
            return ""
        load = self._settled.with_arrival(arrival, pod, after)
        return self._census.over_sentence(load) if is_overused(load.percent, self._census.high.percent) else ""

    def _thresholds(self, loads: list[NodeLoad]) -> tuple[Thresholds, Thresholds]:
        """Up to which a node is underutilized, and above which it is overutilized."""
        args = self._args
        if not args.use_deviation_thresholds:
            return (
                Thresholds.fixed("thresholds", args.thresholds),
                Thresholds.fixed("targetThresholds", args.target_thresholds),
            )
        return (
            Thresholds.around_average("thresholds", args.thresholds, loads, sign=-1),
            Thresholds.around_average("targetThresholds", args.target_thresholds, loads, sign=1),
        )

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

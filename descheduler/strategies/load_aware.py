"""LoadAware: evicts pods from nodes whose measured usage is too high, as Volcano's descheduler does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf

import msgspec
from msgspec.structs import replace

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY, PODS
from descheduler.model.selection.labels import LabelError, parse_selector
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.policy.plugin import ArgsProblem, Needs
from descheduler.policy.shared_args import (
    Args,
    Int64,
    LabelSelectorArg,
    Namespaces,
    Percent,
    PriorityThreshold,
    check_exclude_only,
)
from descheduler.strategies.node_utilization.classify import NodeLoad, measure
from descheduler.strategies.node_utilization.eviction import RemovalOrder
from descheduler.strategies.node_utilization.levels import Thresholds
from descheduler.strategies.node_utilization.overutilized import (
    OverutilizedNodes,
    ReliefRules,
    check_threshold_maps,
    thresholds_around,
)
from descheduler.strategies.node_utilization.sampled_usage import (
    LoadMetrics,
    SampledUsage,
    UsageQueries,
    check_duration,
    check_metrics,
    metrics_needs,
)
from descheduler.strategies.node_utilization.usage import RequestedUsage
from descheduler.strategies.shared.koordinator import NO_NODE, not_selected

_RESOURCES = (CPU, MEMORY, PODS)
_NO_FIT = refuse(
    Reason.NO_NODE_FITS, "no other node fits the pod and is below targetThresholds in cpu and memory (nodeFit: true)"
)


class LoadAwareArgs(Args, frozen=True):
    """Arguments of LoadAware. Thresholds are percent of allocatable cpu, memory and number of pods.

    Source: volcano-sh/descheduler `pkg/framework/plugins/loadaware` (on kubernetes-sigs/descheduler 0.27.1).
    """

    thresholds: Mapping[str, Percent] = msgspec.field(default_factory=dict)
    """A node at or below all of these is underutilized."""
    target_thresholds: Mapping[str, Percent] = msgspec.field(default_factory=dict)
    """A node above any of these is overutilized."""
    use_deviation_thresholds: bool = False
    """Whether the thresholds are distances from the average usage; a resource with 0 is then not looked at."""
    number_of_nodes: Int64 = 0
    """The plugin acts only when more nodes than this are underutilized."""
    evictable_namespaces: Namespaces | None = None
    """Namespaces whose pods are not evicted; only `exclude` is allowed."""
    metrics: LoadMetrics | None = None
    """Where usage comes from; the metrics server when unset."""
    duration: str = "2m"
    """The time that Prometheus averages over."""
    node_fit: bool = False
    """Whether another node must fit a pod that is not overutilized in cpu or memory."""
    node_selector: str = ""
    """Labels of the nodes that are examined, such as `pool=batch`; all nodes when empty."""
    evict_local_storage_pods: bool = False
    """Without effect, as in Volcano; set it on DefaultEvictor."""
    evict_system_critical_pods: bool = False
    """Without effect, as in Volcano; set it on DefaultEvictor."""
    ignore_pvc_pods: bool = False
    """Without effect, as in Volcano; set it on DefaultEvictor."""
    evict_failed_bare_pods: bool = False
    """Without effect, as in Volcano; set it on DefaultEvictor."""
    label_selector: LabelSelectorArg | None = None
    """Without effect, as in Volcano; set it on DefaultEvictor."""
    priority_threshold: PriorityThreshold | None = None
    """Without effect, as in Volcano; set it on DefaultEvictor."""


def needs(args: LoadAwareArgs) -> Needs:
    """The metrics server's kinds, unless Prometheus is asked."""
    return metrics_needs(args.metrics)


def samples(args: LoadAwareArgs) -> Sequence[str]:
    """The queries of Prometheus that measure usage; none for another source."""
    return () if metrics_needs(args.metrics).kinds else _queries(args).all


def samples_address(args: LoadAwareArgs) -> str:
    """The Prometheus that the arguments name."""
    return args.metrics.address if args.metrics else ""


def _queries(args: LoadAwareArgs) -> UsageQueries:
    return UsageQueries.over(args.duration, "irate({}[30s])")


def validate_args(args: LoadAwareArgs) -> list[ArgsProblem]:
    """Problems of the namespaces, the thresholds, the selector, and of where usage comes from."""
    return [
        *check_exclude_only("evictableNamespaces", args.evictable_namespaces),
        *check_threshold_maps(args.thresholds, args.target_thresholds, are_distances=args.use_deviation_thresholds),
        *(
            ArgsProblem(("thresholds", name), f"is not measured; use {', '.join(_RESOURCES)}")
            for name in args.thresholds
            if name not in _RESOURCES
        ),
        *_check_node_selector(args.node_selector),
        *check_metrics(args.metrics),
        *check_duration("duration", args.duration),
    ]


def _check_node_selector(text: str) -> list[ArgsProblem]:
    try:
        parse_selector(text)
    except LabelError as error:
        return [ArgsProblem(("nodeSelector",), str(error))]
    return []


class LoadAware(OverutilizedNodes):
    """Mirrors volcano-sh/descheduler `pkg/framework/plugins/loadaware/load_aware.go`.

    With `compatibility: upstream` a node without metrics counts as unused, a pod without metrics is evicted, and
    averages are those of requests. Otherwise the plugin fails, the pod stays, and averages are those of usage.
    """

    def __init__(self, args: LoadAwareArgs, handle: StrategyHandle) -> None:
        super().__init__(handle)
        self._args = args
        self._examined = frozenset[str]()

    def balance(self, nodes: Sequence[Node]) -> None:
        """Evicts from overutilized nodes what fits into the free room of all underutilized nodes.

        Of each node the pods that use most leave first, by cpu where that is what is overutilized, else by memory.
        Raises StrategyError when usage cannot be had.
        """
        args, view = self._args, self._handle.view
        is_upstream = self._handle.policy.compatibility == "upstream"
        selector = parse_selector(args.node_selector)
        nodes = [node for node in nodes if selector.matches(node.labels)]
        self._examined = frozenset(node.name for node in nodes)
        source = SampledUsage(view.snapshot, args.metrics, _queries(args), takes_missing_for_zero=is_upstream)
        loads = measure(nodes, view, source)
        averaged = measure(nodes, view, RequestedUsage(_RESOURCES)) if is_upstream else loads
        low, high = self._thresholds(averaged)
        rules = ReliefRules(
            args.number_of_nodes,
            namespaces=args.evictable_namespaces,
            order=lambda load: _by_usage(source, _marker(load, high)),
            check=self._fits_elsewhere(loads, high),
            evicts_unmeasured=is_upstream,
        )
        self._run(loads, source, low, high, rules)

    def why_not(self, pod: Pod) -> str:
        """Why the node of `pod` is not relieved, or not of this pod."""
        if not pod.is_terminal and pod.node_name not in self._examined:
            return not_selected(pod) if self._examined else NO_NODE
        return super().why_not(pod)

    def _thresholds(self, averaged: list[NodeLoad]) -> tuple[Thresholds, Thresholds]:
        """The thresholds of all three resources; one that is not named may be used in full."""
        args = self._args
        stated = args.thresholds, args.target_thresholds
        if not args.use_deviation_thresholds:
            full = dict.fromkeys(_RESOURCES, 100.0)
            return thresholds_around(({**full, **stated[0]}, {**full, **stated[1]}), None)
        nothing = dict.fromkeys(_RESOURCES, 0.0)
        low, high = thresholds_around(({**nothing, **stated[0]}, {**nothing, **stated[1]}), averaged)
        full = {name: 100.0 for name in _RESOURCES if not args.thresholds.get(name)}
        return replace(low, percent={**low.percent, **full}), replace(high, percent={**high.percent, **full})

    def _fits_elsewhere(self, loads: Sequence[NodeLoad], high: Thresholds) -> Callable[[Pod], Verdict]:
        """What `nodeFit` asks of a pod before it leaves."""
        if not self._args.node_fit:
            return lambda _: ACCEPTED
        node_fit = self._handle.node_fit
        takers = node_fit.node_set([load.node for load in loads if _marker(load, high) not in (CPU, MEMORY)])
        return lambda pod: ACCEPTED if node_fit.fits_any_other(pod, takers) else _NO_FIT


def _marker(load: NodeLoad, high: Thresholds) -> str:
    """The first resource in which a node is overutilized; Volcano remembers any one of them."""
    over = (name for name in _RESOURCES if load.percent.get(name, 0.0) > high.percent.get(name, inf))
    return next(over, "")


def _by_usage(source: SampledUsage, marker: str) -> RemovalOrder:
    resource = CPU if marker == CPU else MEMORY

    def used(pod: Pod) -> int:
        usage = source.of_pod(pod)
        return -1 if usage is None else usage[resource]

    return lambda pods: sorted(pods, key=used, reverse=True)

"""ScaleDownBinPack: evicts pods from the nodes that come nearest to being empty without them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf, isfinite
from typing import Annotated

import msgspec
from msgspec.structs import replace

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY
from descheduler.model.shard import WHOLE_CLUSTER
from descheduler.model.text.counted import counted
from descheduler.model.verdict import EvictionLimit, LimitReached, limit_reached
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    Int32OrPercent,
    LabelSelectorArg,
    Namespaces,
    check_int_or_percent,
    check_namespaces,
    check_pod_selectors,
    check_selector,
    compile_selector,
    one_of,
)
from descheduler.strategies.shared.koordinator import NO_NODE, PAUSED, PodSelector, container_request, not_selected
from descheduler.strategies.shared.pod_filter import evictable_pods
from descheduler.strategies.shared.pods import FINISHED
from descheduler.strategies.shared.selection import Selection

CALCULATE_ONLY = "CalculateOnly"
EVICT_DIRECTLY = "EvictDirectly"
_STRATEGIES = (CALCULATE_ONLY, EVICT_DIRECTLY)
_RESOURCES = (CPU, MEMORY)


class ScaleDownBinPack:
    """Mirrors koordinator-sh/koordinator, main of July 2026, `pkg/descheduler/framework/plugins/scaledownbinpack`.

    Nothing is written to pods.
    """

    def __init__(self, args: ScaleDownBinPackArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._view = handle.view
        self._evictor = handle.evictor
        self._evicts = args.strategy == EVICT_DIRECTLY
        self._selection = Selection()
        self._looked_at = frozenset[str]()
        self._ranks: dict[str, int] = {}
        self._places: dict[str, tuple[float, int, str]] = {}

    def balance(self, nodes: Sequence[Node]) -> None:
        """Ranks the pods that may be evicted, node by node: first those of nodes where other pods request least.

        The score of a node is the share of allocatable that its other pods request, divided by the share of those that
        may go; the smaller goes first, then fewer pods, then the name. Within a node large pods come before small ones,
        and new ones before old ones. `EvictDirectly` evicts in this order until `maxPodsToEvict` evictions are granted.
        """
        args = self._args
        self._selection = Selection(
            evictable_pods(args.evictable_namespaces, [entry.selector for entry in args.pod_selectors])
        )
        selector = compile_selector(args.node_selector)
        looked_at = [node for node in nodes if selector is None or selector.matches(node.labels)]
        self._looked_at = frozenset(node.name for node in looked_at)
        self._ranks = {}
        if self._stop():
            return
        weights, nodes_with_targets = weights_of(args), list(self._with_targets(looked_at))
        self._places = {each.node.name: place_of(each, weights) for each in nodes_with_targets}
        pods = ranked(nodes_with_targets, weights)
        self._ranks = {pod.uid: rank for rank, pod in enumerate(pods)}
        if self._evicts:
            self._evict(pods)

    def facts(self) -> PluginFacts:
        """What left pods out, and how many are ranked."""
        facts = replace(self._selection.facts(), counts={"rankedPods": len(self._ranks)})
        if stop := self._stop():
            return replace(facts, why_nothing=stop)
        if self._evicts or not facts.pods_selected:
            return facts
        why = f"{counted(len(self._ranks), 'pod')} ranked, none is evicted (strategy: {CALCULATE_ONLY})"
        left_out = {**facts.left_out, "strategy": facts.pods_selected}
        return replace(facts, why_nothing=why, pods_selected=0, left_out=left_out)

    def why_not(self, pod: Pod) -> str:
        """That its node is not looked at, the first rule that it does not meet, or the rank that is not acted on."""
        if stop := self._stop():
            return stop
        if pod.is_terminal:
            return FINISHED
        if pod.node_name not in self._looked_at:
            return not_selected(pod)
        if (miss := self._selection.why_not(pod)) or self._evicts:
            return miss
        return f"{self._rank_of(pod)} (strategy: {CALCULATE_ONLY})"

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """That the node comes no later than the one that `pod` leaves. A node that comes later is a gain."""
        source, node = pod.node_name, after.nodes[arrival.node_name]
        if node.name not in self._looked_at or source not in self._places or self._selection.why_not(arrival):
            return ""
        active = [*after.active_pods_on(node.name), arrival]
        goes = [each is arrival or after.is_arrival(each) or self._evictor.filter(each).is_accepted for each in active]
        targets = [
            each for each, may_go in zip(active, goes, strict=True) if may_go and not self._selection.why_not(each)
        ]
        known = set(map(id, targets))
        there = NodePods(node, targets, [each for each in active if id(each) not in known])
        if place_of(there, weights_of(self._args)) > self._places[source]:
            return ""
        return f"pods of node {node.name} go no later than those of node {source}"

    def _stop(self) -> str:
        if self._args.paused:
            return PAUSED
        return "" if self._looked_at else NO_NODE

    def _with_targets(self, nodes: Sequence[Node]) -> Iterator[NodePods]:
        """The nodes with pods that may go. Pods that a filter refuses burden their node like all others."""
        for node in nodes:
            active = self._view.active_pods_on(node.name)
            targets = [pod for pod in self._selection.of(active) if self._may_go(pod)]
            if targets:
                known = set(map(id, targets))
                yield NodePods(node, targets, [pod for pod in active if id(pod) not in known])

    def _may_go(self, pod: Pod) -> bool:
        """Whether the filters accept `pod`; a refusal is noted where it would be evicted else."""
        if not self._evicts:
            return self._evictor.filter(pod).is_accepted
        return self._evictor.admits(pod, "selected for scale-down")

    def _evict(self, pods: Sequence[Pod]) -> None:
        most = self._args.max_pods_to_evict or 0
        # A percentage is one of the pods of the shard already.
        shard = WHOLE_CLUSTER if isinstance(most, str) else self._view.snapshot.shard
        limit = LimitReached.of(EvictionLimit.PLUGIN_TOTAL, most, num_pods=len(self._ranks), shard=shard)
        num_evicted = 0
        for pod in pods:
            if num_evicted == limit.value:
                self._evictor.keep(pod, limit_reached(limit), self._rank_of(pod))
            else:
                num_evicted += self._evictor.request(pod, self._rank_of(pod)).is_accepted

    def _rank_of(self, pod: Pod) -> str:
        rank = self._ranks.get(pod.uid)
        if rank is None:
            return "not ranked: the filter plugins refuse the pod"
        return f"number {rank + 1:,} of {counted(len(self._ranks), 'pod')} to scale down"


class NodePods(msgspec.Struct, frozen=True):
    """The pods of a node that may go, and all others that have not finished."""

    node: Node
    targets: Sequence[Pod]
    others: Sequence[Pod]


def ranked(nodes: Iterable[NodePods], weights: Mapping[str, float]) -> list[Pod]:
    """The targets, first the one to go first: node by node, the least burdened by others first.

    Ties of nodes go to fewer targets, then by name. Within a node the largest pod is first, then the newest, then by
    namespace and name. Mirrors koordinator-sh/koordinator, main of July 2026,
    `pkg/descheduler/framework/plugins/scaledownbinpack/ranker.go`.
    """
    order = sorted(nodes, key=lambda each: place_of(each, weights))
    return [pod for each in order for pod in sorted(each.targets, key=lambda pod: _place(pod, weights))]


def place_of(each: NodePods, weights: Mapping[str, float]) -> tuple[float, int, str]:
    """What nodes are sorted by."""
    return burden(each, weights), len(each.targets), each.node.name


def burden(each: NodePods, weights: Mapping[str, float]) -> float:
    """Weighted share of allocatable that others request, for one that targets request.

    Infinite when only others request something, 0 when no pod does. Resources that the node does not have do not count.
    """
    of_others, of_targets = _share(each.node, each.others, weights), _share(each.node, each.targets, weights)
    if of_targets:
        return of_others / of_targets
    return inf if of_others else 0.0


def _share(node: Node, pods: Sequence[Pod], weights: Mapping[str, float]) -> float:
    return sum(
        weight * sum(container_request(pod, name) for pod in pods) / node.allocatable[name]
        for name, weight in weights.items()
        if node.allocatable.get(name, 0) > 0
    )


def _place(pod: Pod, weights: Mapping[str, float]) -> tuple[float, float, str, str]:
    # Koordinator adds cores and bytes as they are, so that memory decides unless its weight is tiny.
    size = sum(weight * container_request(pod, name) for name, weight in weights.items())
    created_at = pod.created_at.timestamp() if pod.created_at is not None else -inf
    return -size, -created_at, pod.namespace, pod.name


class ScaleDownBinPackArgs(Args, frozen=True):
    """Arguments of ScaleDownBinPack.

    Source: koordinator-sh/koordinator main of July 2026
    `pkg/descheduler/apis/config/v1alpha2/types_scaledownbinpack.go`.
    """

    paused: bool = False
    """Whether the plugin does nothing."""
    strategy: Annotated[str, one_of(_STRATEGIES)] = CALCULATE_ONLY
    """`EvictDirectly` evicts pods in the order of their ranks; `CalculateOnly` ranks them and evicts none."""
    max_pods_to_evict: Int32OrPercent | None = None
    """Pods that one run of the plugin may evict; required for `EvictDirectly`. A percentage such as `10%` is one of the
    pods that it ranks, rounded down, and at least 1."""
    node_selector: LabelSelectorArg | None = None
    """Only pods of these nodes are examined."""
    pod_selectors: tuple[PodSelector, ...] = ()
    """Only pods with the labels of one of these are ranked; all pods when empty."""
    evictable_namespaces: Namespaces | None = None
    """Only pods of these namespaces are ranked; `include` or `exclude`."""
    resources: tuple[str, ...] = _RESOURCES
    """Resources that are compared."""
    resource_weights: Mapping[str, float] = msgspec.field(default_factory=dict)
    """Weights of resources, above 0; 1 for those of `resources` without one."""


def weights_of(args: ScaleDownBinPackArgs) -> Mapping[str, float]:
    """The weight of each resource that counts, in name order."""
    weights = {**dict.fromkeys(args.resources or _RESOURCES, 1.0), **args.resource_weights}
    return dict(sorted(weights.items()))


def construction_problems(args: ScaleDownBinPackArgs) -> list[ArgsProblem]:
    """What keeps the plugin from being built: the strategy, its limit, selectors, namespaces and weights."""
    return [
        *_check_strategy(args),
        *check_selector("nodeSelector", args.node_selector),
        *check_pod_selectors(entry.selector for entry in args.pod_selectors),
        *check_namespaces(args.evictable_namespaces, "evictableNamespaces"),
        *(
            ArgsProblem(("resourceWeights", name), f"{weight:g} is not a number above 0")
            for name, weight in sorted(args.resource_weights.items())
            if not (weight > 0 and isfinite(weight))
        ),
    ]


def _check_strategy(args: ScaleDownBinPackArgs) -> list[ArgsProblem]:
    if args.strategy and args.strategy not in _STRATEGIES:
        return [ArgsProblem(("strategy",), f"{args.strategy!r} is not one of {', '.join(_STRATEGIES)}")]
    most = args.max_pods_to_evict
    if problems := check_int_or_percent(("maxPodsToEvict",), most):
        return problems
    if args.strategy != EVICT_DIRECTLY or isinstance(most, str) or (most is not None and most > 0):
        return []
    found = "is missing" if most is None else f"{most} is not above 0"
    return [ArgsProblem(("maxPodsToEvict",), f"{found}; strategy {EVICT_DIRECTLY} needs it")]


def warnings(args: ScaleDownBinPackArgs) -> list[ArgsProblem]:
    """That a plugin which only calculates changes nothing here."""
    if args.paused or args.strategy == EVICT_DIRECTLY:
        return []
    message = (
        f"{CALCULATE_ONLY} has no effect: the annotation controller.kubernetes.io/pod-deletion-cost is not written"
    )
    return [ArgsProblem(("strategy",), message)]

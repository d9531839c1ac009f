"""HighNodeUtilization: evicts pods from underutilized nodes so that fewer nodes carry the load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    Int64,
    Namespaces,
    Percent,
    check_exclude_only,
    check_in,
    check_percentages,
    one_of,
)
from descheduler.strategies.node_utilization.census import NodeCensus, Stop, no_census, nodes_text
from descheduler.strategies.node_utilization.classify import (
    SettledLoads,
    free_resources,
    is_underused,
    measure,
    sort_by_usage,
)
from descheduler.strategies.node_utilization.eviction import Destinations, NodeRelief, Relief
from descheduler.strategies.node_utilization.levels import Thresholds
from descheduler.strategies.node_utilization.usage import RequestedUsage, resources_in_play
from descheduler.strategies.shared.pods import FINISHED

_ONLY_THRESHOLDING_RESOURCES = "OnlyThresholdingResources"
_EVICTION_MODES = (_ONLY_THRESHOLDING_RESOURCES,)
_NO_TAKERS = Stop(
    "No node is available to schedule the pods, nothing to do here",
    "every node that is not underutilized is cordoned",
)


class HighNodeUtilizationArgs(Args, frozen=True):
    """Arguments of HighNodeUtilization; usage is always that of the requests.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/nodeutilization/types.go`.
    """

    evictable_namespaces: Namespaces | None = None
    """Namespaces whose pods are not evicted; only `exclude` is allowed."""
    thresholds: Mapping[str, Percent] = msgspec.field(default_factory=dict)
    """Percent of allocatable by resource; a node at or below all of them is a source."""
    number_of_nodes: Int64 = 0
    """The plugin acts only when more nodes than this are underutilized."""
    eviction_modes: tuple[Annotated[str, one_of(_EVICTION_MODES)], ...] = ()
    """`OnlyThresholdingResources` evicts only pods that request a resource of `thresholds`."""


def validate_args(args: HighNodeUtilizationArgs) -> list[ArgsProblem]:
    """Problems of the namespaces, the thresholds and the eviction modes."""
    return [
        *check_exclude_only("evictableNamespaces", args.evictable_namespaces),
        *check_percentages("thresholds", args.thresholds),
        *check_in("evictionModes", args.eviction_modes, _EVICTION_MODES),
    ]


class HighNodeUtilization:
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/nodeutilization/highnodeutilization.go`."""

    def __init__(self, args: HighNodeUtilizationArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._handle = handle
        self._census = no_census()
        self._stop: Stop | None = None
        self._relief: NodeRelief | None = None
        self._source = RequestedUsage(resources_in_play(args.thresholds))
        self._settled = SettledLoads(self._source)

    def balance(self, nodes: Sequence[Node]) -> None:
        """Evicts from underutilized nodes, cordoned ones too, what fits into the free room of all others."""
        source = self._source
        loads = measure(nodes, self._handle.view, source)
        underused = [load for load in loads if is_underused(load.percent, self._args.thresholds)]
        givers = {load.node.name for load in underused}
        takers = [load for load in loads if load.node.name not in givers and not load.node.unschedulable]
        low = Thresholds.fixed("thresholds", self._args.thresholds)
        census = self._census = NodeCensus(
            loads, underused, (), low, Thresholds.fixed("targetThresholds", {}), source.noun
        )
        self._relief = None
        self._stop = census.check_under(self._args.number_of_nodes) or (None if takers else _NO_TAKERS)
        if self._stop is not None:
            return
        namespaces = self._args.evictable_namespaces
        relief = self._relief = NodeRelief(
            self._handle.evictor,
            source,
            Destinations(
                takers,
                free_resources(takers, dict.fromkeys(self._args.thresholds, 100.0)),
                counts_tolerations=self._handle.policy.compatibility == "upstream",
            ),
            spared_namespaces=frozenset(namespaces.exclude if namespaces else ()),
            may_leave=self._is_worth_moving,
        )
        relief.charge_departed(underused)
        relief.run([Relief(load, census.under_sentence(load)) for load in sort_by_usage(underused, ascending=True)])

    def facts(self) -> PluginFacts:
        """How many nodes are underutilized, and how near the others are to that."""
        census, relief = self._census, self._relief
        if relief is None:
            return census.facts(self._stop)
        why = f"{nodes_text(len(census.under))} underutilized, {relief.why_nothing('other')}"
        return census.facts(None, why=why, num_selected=relief.num_selected)

    def why_not(self, pod: Pod) -> str:
        """Why the node of `pod` is not emptied, or not of this pod."""
        if pod.is_terminal:
            return FINISHED
        if why := self._census.why_not_under(pod.node_name):
            return why
        if self._relief is None:
            return "" if self._stop is None else self._stop.why
        if not self._is_worth_moving(pod):
            return f"requests no resource of thresholds (evictionModes: {_ONLY_THRESHOLDING_RESOURCES})"
        return f"node {pod.node_name} is underutilized, {self._relief.why_no_more('other')}"

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """That the node is underutilized with the pod too."""
        load = self._settled.with_arrival(arrival, pod, after)
        if not (is_underused(load.percent, self._args.thresholds) and self._is_worth_moving(arrival)):
            return ""
        return self._census.under_sentence(load)

    def _is_worth_moving(self, pod: Pod) -> bool:
        """Whether, if the eviction mode asks for it, a container states a request of a resource with a threshold."""
        if _ONLY_THRESHOLDING_RESOURCES not in self._args.eviction_modes:
            return True
        spec = pod.spec
        return any(
            resource in container.requests
            for container in (*spec.containers, *spec.init_containers)
            for resource in self._args.thresholds
        )

"""The run of a plugin that relieves overutilized nodes as long as underutilized ones have room."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from descheduler.eviction.cluster_view import ClusterView, pods_for
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Verdict
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Namespaces, check_percentages
from descheduler.strategies.node_utilization.census import NodeCensus, Stop, no_census, nodes_text
from descheduler.strategies.node_utilization.classify import (
    NodeLoad,
    SettledLoads,
    free_resources,
    is_overused,
    is_underused,
    sort_by_usage,
)
from descheduler.strategies.node_utilization.eviction import Destinations, NodeLimit, NodeRelief, Relief, RemovalOrder
from descheduler.strategies.node_utilization.levels import Thresholds
from descheduler.strategies.node_utilization.usage import UsageSource
from descheduler.strategies.shared.pods import FINISHED, sort_low_to_high


class ReliefRules(msgspec.Struct, frozen=True):
    """What bounds one run: more than `number_of_nodes` nodes have to be underutilized, so many pods leave a node.

    `order` sorts the pods of a node. `check` is asked of each pod before it leaves. With `evicts_unmeasured` pods
    leave whose usage is not known, and their leaving changes no figure.
    """

    number_of_nodes: int = 0
    node_limit: int | str | None = None
    namespaces: Namespaces | None = None
    order: Callable[[NodeLoad], RemovalOrder] = lambda _: sort_low_to_high
    check: Callable[[Pod], Verdict] = lambda _: ACCEPTED
    evicts_unmeasured: bool = False


class OverutilizedNodes:
    """The part that LowNodeUtilization and LoadAware share: what is told of a run, and the run itself."""

    def __init__(self, handle: StrategyHandle) -> None:
        self._handle = handle
        self._census = no_census()
        self._stop: Stop | None = None
        self._relief: NodeRelief | None = None
        self._settled: SettledLoads | None = None

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
        if self._relief is None:
            return "" if self._stop is None else self._stop.why
        return f"node {pod.node_name} is overutilized, {self._relief.why_no_more('underutilized')}"

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """What makes the node overutilized with the pod, beside the thresholds of this run."""
        if self._settled is None:
            return ""
        load = self._settled.with_arrival(arrival, pod, after)
        return self._census.over_sentence(load) if is_overused(load.percent, self._census.high.percent) else ""

    def _run(
        self, loads: list[NodeLoad], source: UsageSource, low: Thresholds, high: Thresholds, rules: ReliefRules
    ) -> None:
        """Evicts from overutilized nodes what fits into the free room of all underutilized nodes."""
        self._settled = SettledLoads(source)
        underused = [load for load in loads if not load.node.unschedulable and is_underused(load.percent, low.percent)]
        takers = {load.node.name for load in underused}
        overused = [load for load in loads if load.node.name not in takers and is_overused(load.percent, high.percent)]
        census = self._census = NodeCensus(loads, underused, overused, low, high, source.noun)
        self._relief = None
        self._stop = census.check_under(rules.number_of_nodes) or census.check_over()
        if self._stop is not None:
            return
        relief = self._relief = NodeRelief(
            self._handle.evictor,
            source,
            Destinations(
                underused,
                free_resources(underused, high.percent),
                counts_tolerations=self._handle.policy.compatibility == "upstream",
            ),
            node_limit=None if rules.node_limit is None else self._node_limit(rules.node_limit),
            spared_namespaces=frozenset(rules.namespaces.exclude if rules.namespaces else ()),
            check=rules.check,
            evicts_unmeasured=rules.evicts_unmeasured,
        )
        relief.charge_departed(load for load in loads if load.node.name not in takers)
        relief.run(
            [
                Relief(load, census.over_sentence(load), load.ceilings(high.percent), rules.order(load))
                for load in sort_by_usage(overused, ascending=False)
            ]
        )

    def _node_limit(self, most: int | str) -> NodeLimit:
        return NodeLimit(most, pods_for((most,), self._handle.view.snapshot).by_node)


def thresholds_around(
    stated: tuple[Mapping[str, float], Mapping[str, float]], loads: list[NodeLoad] | None
) -> tuple[Thresholds, Thresholds]:
    """`thresholds` and `targetThresholds`; as distances from the average of `loads` if those are given."""
    low, high = stated
    if loads is None:
        return Thresholds.fixed("thresholds", low), Thresholds.fixed("targetThresholds", high)
    return (
        Thresholds.around_average("thresholds", low, loads, sign=-1),
        Thresholds.around_average("targetThresholds", high, loads, sign=1),
    )


def check_threshold_maps(
    low: Mapping[str, float], high: Mapping[str, float], *, are_distances: bool
) -> list[ArgsProblem]:
    """Problems of `thresholds` and `targetThresholds`, and of how they go together."""
    percentages = [*check_percentages("thresholds", low), *check_percentages("targetThresholds", high)]
    if percentages:
        return percentages
    if one_sided := sorted(low.keys() ^ high.keys()):
        names = ", ".join(repr(name) for name in one_sided)
        return [ArgsProblem(("targetThresholds",), f"must name the same resources as thresholds; different: {names}")]
    return [
        ArgsProblem(("thresholds", name), f"{percent:g} is above {high[name]:g}, its target threshold")
        for name, percent in sorted(low.items())
        if percent > high[name] and not are_distances
    ]

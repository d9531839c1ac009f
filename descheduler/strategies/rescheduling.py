"""Rescheduling: evicts tasks of Volcano's jobs from overutilized nodes, as Volcano's action shuffle does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.groups.gangs import api_group_of, gangs_of
from descheduler.model.groups.volcano import POD_GROUP_KIND
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY
from descheduler.model.verdict import EvictionLimit
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem, Needs
from descheduler.policy.shared_args import Args, Percent, check_percentages
from descheduler.strategies.node_utilization.census import NodeCensus, Stop, no_census, nodes_text
from descheduler.strategies.node_utilization.classify import NodeLoad, SettledLoads, is_overused, measure
from descheduler.strategies.node_utilization.levels import Thresholds
from descheduler.strategies.node_utilization.sampled_usage import (
    LoadMetrics,
    SampledUsage,
    UsageQueries,
    check_duration,
    check_metrics,
    metrics_needs,
)
from descheduler.strategies.shared.pods import FINISHED, sort_low_to_high

LOW_NODE_UTILIZATION = "lowNodeUtilization"
_RESOURCES = (CPU, MEMORY)
_FULL = dict.fromkeys(_RESOURCES, 100.0)
_KEPT_PERIOD = "10m"
_NO_TASK = "not a running pod of a PodGroup of Volcano"


class ReschedulingParams(Args, frozen=True):
    """Parameters of lowNodeUtilization: percent of cpu and memory."""

    thresholds: Mapping[str, Percent] = msgspec.field(default_factory=dict)
    """A node below all of these is underutilized; 100 for a resource that is not named."""
    target_thresholds: Mapping[str, Percent] = msgspec.field(default_factory=dict)
    """A node above any of these is overutilized; 100 for a resource that is not named."""
    node_fit: bool = False
    """Without effect, as in Volcano."""
    threshold_priority_class_name: str = ""
    """Without effect, as in Volcano."""


class ReschedulingStrategy(Args, frozen=True):
    """One entry of `strategies`."""

    name: str = ""
    """`lowNodeUtilization`; Volcano has no other in its code, and passes over other names."""
    params: ReschedulingParams = ReschedulingParams()
    """Its parameters."""


class ReschedulingArgs(Args, frozen=True):
    """Arguments of Rescheduling. They are those of the plugin rescheduling of Volcano's scheduler.

    Source: volcano-sh/volcano `pkg/scheduler/plugins/rescheduling`.
    """

    interval: str = "5m"
    """Without effect here; the schedule of the CronJob says when the plugin runs."""
    metrics_period: str = "5m"
    """The time that Prometheus averages over. Volcano knows averages over 10m alone."""
    strategies: tuple[ReschedulingStrategy, ...] = ()
    """What selects pods; `lowNodeUtilization` with its defaults when empty."""
    metrics: LoadMetrics | None = None
    """Where usage comes from; the metrics server when unset. Volcano has this beside its tiers."""

    @property
    def params(self) -> ReschedulingParams | None:
        """The parameters of lowNodeUtilization; None where other strategies alone are named."""
        if not self.strategies:
            return ReschedulingParams()
        return next((each.params for each in self.strategies if each.name == LOW_NODE_UTILIZATION), None)


def needs(args: ReschedulingArgs) -> Needs:
    """The PodGroups that make pods tasks, and the metrics server's kinds, unless Prometheus is asked."""
    return metrics_needs(args.metrics) | Needs(frozenset((POD_GROUP_KIND,)))


def samples(args: ReschedulingArgs) -> Sequence[str]:
    """The queries of Prometheus that measure usage; none for another source."""
    return () if metrics_needs(args.metrics).kinds else _queries(args).all


def samples_address(args: ReschedulingArgs) -> str:
    """The Prometheus that the arguments name."""
    return args.metrics.address if args.metrics else ""


def _queries(args: ReschedulingArgs) -> UsageQueries:
    return UsageQueries.over(args.metrics_period, "rate({}[5m])")


def validate_args(args: ReschedulingArgs) -> list[ArgsProblem]:
    """Problems of the thresholds, and of where usage comes from."""
    faults = (
        ArgsProblem(("strategies", index, "params", *problem.path), problem.message)
        for index, strategy in enumerate(args.strategies)
        for name, percents in (
            ("thresholds", strategy.params.thresholds),
            ("targetThresholds", strategy.params.target_thresholds),
        )
        for problem in (check_percentages(name, percents) if percents else ())
    )
    return [*faults, *check_metrics(args.metrics), *check_duration("metricsPeriod", args.metrics_period)]


def warnings(args: ReschedulingArgs) -> list[ArgsProblem]:
    """The strategies and thresholds that have no effect."""
    found = []
    for index, strategy in enumerate(args.strategies):
        path = ("strategies", index)
        if strategy.name != LOW_NODE_UTILIZATION:
            message = f"{strategy.name!r} has no effect; Volcano has {LOW_NODE_UTILIZATION} alone"
            found.append(ArgsProblem((*path, "name"), message))
        stated = {**strategy.params.thresholds, **strategy.params.target_thresholds}
        for name in sorted(stated.keys() - _FULL.keys()):
            field = "thresholds" if name in strategy.params.thresholds else "targetThresholds"
            found.append(ArgsProblem((*path, "params", field, name), "has no effect; only cpu and memory are measured"))
    return found


class Rescheduling:
    """Mirrors volcano-sh/volcano `pkg/scheduler/plugins/rescheduling/low_node_utilization.go`.

    With `compatibility: upstream` usage is 0 unless `metricsPeriod` is 10m, room below zero does not stop the plugin,
    and an evicted pod relieves its node of what it requests. Otherwise it relieves the node of what it uses.
    """

    def __init__(self, args: ReschedulingArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._handle = handle
        self._is_upstream = handle.policy.compatibility == "upstream"
        self._source = SampledUsage(
            handle.view.snapshot, args.metrics, _queries(args), takes_missing_for_zero=self._is_upstream
        )
        self._settled = SettledLoads(self._source)
        self._census = no_census()
        self._stop: Stop | None = None
        self._num_selected = 0

    def balance(self, nodes: Sequence[Node]) -> None:
        """Evicts tasks from the nodes with the highest percentages while underutilized nodes have room.

        Raises StrategyError when usage cannot be had.
        """
        params, self._num_selected = self._args.params, 0
        self._census, self._stop = no_census(), self._idle(params)
        if self._stop is not None or params is None:
            return
        loads = self._loads(nodes)
        low = Thresholds.fixed("thresholds", _known(params.thresholds))
        high = Thresholds.fixed("targetThresholds", _known(params.target_thresholds))
        under = [load for load in loads if not load.node.unschedulable and _is_below(load.percent, low.percent)]
        takers = {load.node.name for load in under}
        over = [load for load in loads if load.node.name not in takers and is_overused(load.percent, high.percent)]
        census = self._census = NodeCensus(loads, under, over, low, high, self._source.noun)
        self._stop = census.check_under(0) or census.check_over()
        if self._stop is not None:
            return
        room = _Room(under, high.percent, stops_at_zero_alone=self._is_upstream)
        for load in sorted(over, key=lambda load: -sum(load.percent[name] for name in _RESOURCES)):
            if not self._relieve(load, high.percent, room):
                return

    def facts(self) -> PluginFacts:
        """How many nodes are in which class, and how near the nodes are to the thresholds."""
        why = f"{nodes_text(len(self._census.over))} overutilized, but no pod there can be moved: {_NO_TASK}"
        return self._census.facts(self._stop, why=why, num_selected=self._num_selected)

    def why_not(self, pod: Pod) -> str:
        """Why the node of `pod` is not relieved, or not of this pod."""
        if pod.is_terminal:
            return FINISHED
        if why := "" if self._stop is None else self._stop.why:
            return why
        if why := self._census.why_not_over(pod.node_name):
            return why
        if not self._is_task(pod):
            return _NO_TASK
        return f"node {pod.node_name} is overutilized, and other pods are selected"

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """What makes the node overutilized with the pod."""
        load = _in_capacity(self._settled.with_arrival(arrival, pod, after))
        return self._over_sentence(load)

    def _over_sentence(self, load: NodeLoad) -> str:
        """What makes a node overutilized; empty where it is not."""
        levels = (level for level in self._census.high.levels(load) if level.excess > 0)
        return " and ".join(level.words(self._source.noun(level.resource)) for level in levels)

    def _idle(self, params: ReschedulingParams | None) -> Stop | None:
        """Why nothing can be selected whatever is used."""
        if params is None:
            return Stop("", f"strategies does not name {LOW_NODE_UTILIZATION}")
        if self._is_upstream and self._args.metrics_period != _KEPT_PERIOD:
            period = f"metricsPeriod: {self._args.metrics_period}"
            return Stop("", f"all usage is 0: Volcano keeps averages over {_KEPT_PERIOD} alone ({period})")
        return None

    def _loads(self, nodes: Sequence[Node]) -> list[NodeLoad]:
        return [_in_capacity(load) for load in measure(nodes, self._handle.view, self._source)]

    def _relieve(self, load: NodeLoad, high: Mapping[str, float], room: _Room) -> bool:
        """Evicts from one node; returns whether to go on after it."""
        evictor, sentence, percent = self._handle.evictor, self._over_sentence(load), dict(load.percent)
        for pod in load.departed:
            self._move(pod, load.node, percent, room)
        for pod in sort_low_to_high(filter(self._is_task, load.pods)):
            if not room.is_left or all(percent[name] < limit for name, limit in high.items()):
                return True
            self._num_selected += 1
            if not (evictor.admits(pod, sentence) and evictor.admits_now(pod, sentence)):
                continue
            verdict = evictor.request(pod, sentence)
            if verdict.limit in (EvictionLimit.NODE, EvictionLimit.TOTAL):
                return verdict.limit is EvictionLimit.NODE
            if verdict.is_accepted:
                self._move(pod, load.node, percent, room)
        return True

    def _move(self, pod: Pod, node: Node, percent: dict[str, float], room: _Room) -> None:
        """Takes a pod off the percentages of its node, and off the room."""
        measured = None if self._is_upstream else self._source.of_pod(pod)
        amounts = pod.spec.requests if measured is None else measured
        for name in _RESOURCES:
            amount, capacity = amounts.get(name, 0), node.capacity.get(name, 0)
            percent[name] -= amount / capacity * 100 if capacity else 0.0
            room.take(name, amount)

    def _is_task(self, pod: Pod) -> bool:
        return pod.phase == "Running" and not pod.is_terminating and any(self._jobs_of(pod))

    def _jobs_of(self, pod: Pod) -> Iterator[bool]:
        gangs = self._handle.view.snapshot.gangs
        of_volcano = POD_GROUP_KIND.partition(".")[2]
        return (gangs.minimum(key) is not None for key in gangs_of(pod) if api_group_of(key) == of_volcano)


class _Room:
    """What the underutilized nodes can still take below `high`, in nano units."""

    def __init__(self, under: Sequence[NodeLoad], high: Mapping[str, float], *, stops_at_zero_alone: bool) -> None:
        self._left = {
            name: sum((limit - load.percent[name]) / 100 * load.node.allocatable.get(name, 0) for load in under)
            for name, limit in high.items()
        }
        self._stops_at_zero_alone = stops_at_zero_alone

    @property
    def is_left(self) -> bool:
        """Whether more may come. Volcano goes on below zero."""
        return all(left > 0 or (left < 0 and self._stops_at_zero_alone) for left in self._left.values())

    def take(self, name: str, amount: int) -> None:
        """Books what a pod brings along."""
        self._left[name] -= amount


def _known(stated: Mapping[str, float]) -> dict[str, float]:
    return {**_FULL, **{name: percent for name, percent in stated.items() if name in _FULL}}


def _is_below(percent: Mapping[str, float], low: Mapping[str, float]) -> bool:
    return all(percent[name] < limit for name, limit in low.items())


def _in_capacity(load: NodeLoad) -> NodeLoad:
    """The load in percent of capacity, which is what Volcano measures."""
    capacity = load.node.capacity
    percent = {name: load.usage[name] / capacity[name] * 100 if capacity.get(name) else 0.0 for name in _RESOURCES}
    return msgspec.structs.replace(load, percent=percent)

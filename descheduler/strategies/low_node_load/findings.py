"""What a run of the plugin has to say to somebody who asks why nothing happens, or not to a pod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.koordinator.classes import is_prod
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.plan.facts import NearestValue, NodeClasses, PluginFacts
from descheduler.strategies.low_node_load.args import LowNodeLoadArgs
from descheduler.strategies.low_node_load.detector import Detectors
from descheduler.strategies.low_node_load.headroom import prod_load, whole_load
from descheduler.strategies.low_node_load.node_load import MeasuredNode, NodeClass
from descheduler.strategies.low_node_load.pool_run import PoolRun, PoolStop
from descheduler.strategies.low_node_load.pools import LoadThresholds
from descheduler.strategies.node_utilization import levels
from descheduler.strategies.node_utilization.census import nodes_text
from descheduler.strategies.node_utilization.usage import noun_of
from descheduler.strategies.shared.koordinator import NO_NODE, not_selected
from descheduler.strategies.shared.pods import FINISHED
from descheduler.strategies.shared.selection import Selection

_EXPIRATION = "nodeMetricExpirationSeconds"
_NO_METRICS = "no usage is known: there are no NodeMetrics (slo.koordinator.sh); is koordlet installed?"
_KEYS = {
    PoolStop.NONE_ABNORMAL: "anomalyCondition",
    PoolStop.NONE_UNDER: "lowThresholds",
    PoolStop.TOO_FEW_UNDER: "numberOfNodes",
    PoolStop.ALL_UNDER: "lowThresholds",
}


class Findings:
    """What the turns of all pools came to. `num_pods` are those of each node before the first turn."""

    def __init__(
        self,
        runs: Sequence[PoolRun],
        num_pods: Mapping[str, int],
        args: LowNodeLoadArgs,
        handle: StrategyHandle,
        selection: Selection,
        detectors: Detectors,
    ) -> None:
        self._runs = runs
        self._num_pods = num_pods
        self._args = args
        self._handle = handle
        self._selection = selection
        self._detectors = detectors

    def facts(self) -> PluginFacts:
        """How many nodes are in which class, how near they are to the thresholds, and what left pods out."""
        num_examined = sum(self._num_pods[name] for name in self._run_by_node)
        num_selected = self._selection.num_selected - sum(
            relief.num_not_needed for run in self._runs for relief in run.reliefs
        )
        left_out = self._left_out(num_examined, num_selected)
        return PluginFacts(
            why_nothing="" if num_selected else self._why_nothing(),
            pods_examined=num_examined,
            pods_selected=num_selected,
            left_out=left_out,
            nearest=tuple(self._nearest()),
            nodes=self._node_classes(),
            counts={
                "nodesWithoutNodeMetric": sum(len(run.measured.unmeasured) for run in self._runs),
                "abnormalNodes": sum(len(run.abnormal) for run in self._runs),
            },
        )

    def why_not(self, pod: Pod) -> str:
        """Why the node of `pod` is not relieved, or not of this pod."""
        if pod.is_terminal:
            return FINISHED
        run = self._run_by_node.get(pod.node_name)
        if run is None:
            return not_selected(pod)
        load = next((each for each in run.measured.loads if each.node.name == pod.node_name), None)
        if load is None:
            return self._why_unmeasured(pod.node_name)
        return self._why_not_relieved(run, load) or self._why_not_leaving(run, load, pod)

    @cached_property
    def _run_by_node(self) -> Mapping[str, PoolRun]:
        """The pool of each node; of several the one in which it is overutilized, else the first."""
        by_node: dict[str, PoolRun] = {}
        for run in self._runs:
            for node in run.nodes:
                by_node.setdefault(node.name, run)
        for run in reversed(self._runs):
            by_node |= {load.node.name: run for load in (*run.high, *run.prod_high)}
        return by_node

    def _why_nothing(self) -> str:
        if not self._runs:
            return NO_NODE
        if not self._handle.view.snapshot.node_metrics:
            return _NO_METRICS
        run = max(self._runs, key=_progress)
        if not run.measured.loads:
            return f"{nodes_text(len(run.nodes))} without a current NodeMetric ({self._expiration})"
        return self._stop_sentence(run) or self._why_none_leaves(run)

    def _stop_sentence(self, run: PoolRun) -> str:
        """Why the turn of a pool ended; empty where it did not."""
        num_over, num_low = len(run.high) + len(run.prod_high), run.classes.num_low
        match run.stop:
            case PoolStop.NONE_OVER:
                return f"no node is overutilized: {self._highest(run)}"
            case PoolStop.NONE_ABNORMAL:
                return f"{nodes_text(num_over)} overutilized {self._too_new(run)}"
            case PoolStop.NONE_UNDER:
                return "no node is underutilized"
            case PoolStop.TOO_FEW_UNDER:
                least = self._args.number_of_nodes
                more = f"more than {least:,} are required (numberOfNodes: {least})"
                return f"{nodes_text(num_low)} underutilized, {more}"
            case PoolStop.ALL_UNDER:
                return f"all {num_low:,} nodes are underutilized"
        return ""

    def _why_none_leaves(self, run: PoolRun) -> str:
        over = f"{nodes_text(len(run.abnormal))} overutilized"
        reliefs = [relief for relief in run.reliefs if relief.num_sources]
        if not any(relief.has_targets for relief in reliefs):
            return f"{over}, but no node is underutilized"
        short = {name for relief in reliefs if relief.has_targets for name in relief.headroom.short_of}
        if short:
            return f"{over}, but the underutilized nodes have no room for more: {', '.join(sorted(short))}"
        return f"{over}, but no pod there can be moved"

    def _why_unmeasured(self, node_name: str) -> str:
        metric = self._handle.view.snapshot.node_metrics.get(node_name)
        if metric is None or metric.system_usage is None or metric.updated_at is None:
            return f"node {node_name} has no NodeMetric with usage"
        age_seconds = (self._handle.now - metric.updated_at).total_seconds()
        return f"the NodeMetric of node {node_name} is {age_seconds:,.0f} s old ({self._expiration})"

    @property
    def _expiration(self) -> str:
        return f"{_EXPIRATION}: {self._args.node_metric_expiration_seconds}"

    def _why_not_relieved(self, run: PoolRun, load: MeasuredNode) -> str:
        name = load.node.name
        is_high, is_prod_high = (any(each is load for each in of) for of in (run.high, run.prod_high))
        if not is_high and not is_prod_high:
            return f"node {name} is not overutilized: {self._level(run, name)}"
        if name not in run.abnormal:
            return f"node {name} is overutilized {self._too_new(run, name)}"
        return self._stop_sentence(run)

    def _why_not_leaving(self, run: PoolRun, load: MeasuredNode, pod: Pod) -> str:
        phase = run.reliefs[1 if any(each is load for each in run.prod_high) else 0]
        if phase is run.reliefs[1] and not is_prod(pod):
            return f"node {load.node.name} is overutilized by prod pods alone, and the pod is not one of them"
        if not phase.has_targets:
            return f"node {load.node.name} is overutilized, but no node is underutilized"
        if miss := self._selection.why_not(pod):
            return miss
        if short := phase.headroom.short_of:
            return f"the underutilized nodes have no room left: {', '.join(sorted(short))}"
        return f"other pods of node {load.node.name} are selected"

    def _too_new(self, run: PoolRun, node_name: str = "") -> str:
        """That overutilized nodes are not abnormal yet, and whether they can ever be."""
        least = run.pool.condition.consecutive_abnormalities
        marks = max(map(self._num_marks, [node_name] if node_name else run.over_names), default=0)
        sentence = f"for {counted(marks, 'run')}; pods are evicted from {counted(least + 1, 'run')} in a row on"
        missing = f"; {self._detectors.missing}" if self._detectors.missing else ""
        return f"{sentence} (anomalyCondition.consecutiveAbnormalities: {least}){missing}"

    def _num_marks(self, node_name: str) -> int:
        return max(self._detectors.node.num_marks(node_name), self._detectors.prod.num_marks(node_name))

    def _highest(self, run: PoolRun) -> str:
        thresholds = _stated(run.measured.whole, is_high=True)
        highest = max(run.levels[whole_load].values(), key=thresholds.excess).node.name
        level = self._level(run, highest)
        return f"the highest is {highest} with {level}" if level else "no threshold is set"

    def _level(self, run: PoolRun, node_name: str) -> str:
        """The resource of a node that is nearest to its high threshold, or furthest above it."""
        level = _stated(run.measured.whole, is_high=True).highest(run.levels[whole_load][node_name])
        return "" if level is None else level.words(noun_of(level.resource, "usage"))

    def _left_out(self, num_examined: int, num_selected: int) -> dict[str, int]:
        """Pods that are not selected, by the key of the policy that decided about their node, or about them."""
        by_key = Counter[str]()
        for name, run in self._run_by_node.items():
            if (key := self._key_of_node(run, name)) != "":
                by_key[key] += self._num_pods[name]
        for rule, number in self._selection.left_out():
            by_key[rule.key] += number
        # Pods of relieved nodes that need not leave as well.
        by_key["highThresholds"] += num_examined - num_selected - by_key.total()
        return {key: number for key, number in by_key.items() if number > 0}

    def _key_of_node(self, run: PoolRun, node_name: str) -> str:
        """What keeps all pods of a node; empty where some can leave."""
        if node_name in run.unmeasured_names:
            return _EXPIRATION
        if node_name not in run.over_names:
            return "highThresholds"
        if node_name not in run.abnormal:
            return "anomalyCondition"
        return "" if run.stop is None else _KEYS[run.stop]

    def _node_classes(self) -> NodeClasses | None:
        if not self._runs:
            return None
        counts = Counter(found for run in self._runs for found in run.classes.classes)
        thresholds = self._runs[0].measured.whole
        under, over = (
            counts[NodeClass.BOTH_LOW] + counts[NodeClass.LOW],
            counts[NodeClass.HIGH] + counts[NodeClass.PROD_HIGH],
        )
        return NodeClasses(
            under=under,
            between=counts.total() - under - over,
            over=over,
            thresholds=_stated(thresholds, is_high=False).percent,
            target_thresholds=_stated(thresholds, is_high=True).percent,
        )

    def _nearest(self) -> Iterator[NearestValue]:
        """For each threshold the node that is nearest to it, on whichever side."""
        for run in self._runs:
            for thresholds, aspect in ((run.measured.whole, whole_load), (run.measured.prod, prod_load)):
                loads = [*run.levels[aspect].values()]
                for is_high in (False, True):
                    yield from _stated(thresholds, is_high=is_high).nearest(loads)


def _progress(run: PoolRun) -> int:
    """How far a pool came; the furthest has the most to say."""
    return len(PoolStop) + 1 if run.stop is None else run.stop.value * bool(run.measured.loads)


def _stated(thresholds: LoadThresholds, *, is_high: bool) -> levels.Thresholds:
    """One map of thresholds as far as the policy states it, for words."""
    given = thresholds.stated.high if is_high else thresholds.stated.low
    key = thresholds.stated.high_key if is_high else thresholds.stated.low_key
    percent = thresholds.high if is_high else thresholds.low
    names = [name for name in given if name in thresholds.stated.low]
    sign = 1 if is_high else -1
    effective = {name: thresholds.effective(percent, name, sign=sign) for name in names}
    average = thresholds.average
    means = None if average is None else {name: average.get(name, 0.0) for name in names}
    return levels.Thresholds(key, effective, {name: given[name] for name in names}, means)

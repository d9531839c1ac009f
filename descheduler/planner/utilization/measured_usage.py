"""How full nodes are by measurement, after the moves that are booked: a replacement uses what its predecessor did."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.problem import Problem
from descheduler.placement.shadow.node_table import amount
from descheduler.planner.objective_args import NODE_METRIC, MeasuredUtilization
from descheduler.planner.problem.booked_arrivals import BookedArrivals
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.planner.problem.units import Units, counted_needs, units_for
from descheduler.planner.utilization.node_utilization import NodeUtilization
from descheduler.planner.utilization.targets import NO_CEILING, UsageTargets
from descheduler.strategies.low_node_load.args import LowNodeLoadArgs
from descheduler.strategies.low_node_load.node_load import measure
from descheduler.strategies.low_node_load.pools import pools_of
from descheduler.strategies.node_utilization.usage import MetricsServerUsage

_UsageOfPod: TypeAlias = Callable[[Pod], Mapping[str, int] | None]


def measured_usage(
    metrics: MeasuredUtilization, handle: StrategyHandle, nodes: Sequence[Node], resources: Sequence[str]
) -> MeasuredUsage:
    """The usage of `resources` as it was measured last. Raises StrategyError for one that the source does not know."""
    # What is booked takes no effect in this view, as it is counted on top.
    view = ClusterView(handle.view.snapshot, moves_take_effect=False)
    if metrics.source == NODE_METRIC:
        return _by_koordlet(metrics, handle, view, nodes, tuple(resources))
    return _by_metrics_server(handle, view, nodes, tuple(resources))


def _by_metrics_server(
    handle: StrategyHandle, view: ClusterView, nodes: Sequence[Node], resources: tuple[str, ...]
) -> MeasuredUsage:
    snapshot = view.snapshot
    source = MetricsServerUsage(resources, nodes=snapshot.node_usage, pods=snapshot.pod_usage)
    known = [node for node in nodes if node.name in snapshot.node_usage]
    usages = {
        node.name: NodeUtilization(
            resources,
            _amounts(resources, source.of_node(node, view.active_pods_on(node.name))),
            _amounts(resources, node.allocatable),
        )
        for node in known
    }
    return MeasuredUsage(handle.evictor, resources, usages, source.of_pod)


def _by_koordlet(
    metrics: MeasuredUtilization,
    handle: StrategyHandle,
    view: ClusterView,
    nodes: Sequence[Node],
    resources: tuple[str, ...],
) -> MeasuredUsage:
    pool = next(pools_of(LowNodeLoadArgs(high_thresholds=dict.fromkeys(resources, 100.0))))
    found = measure(pool, nodes, view, now=handle.now, expiration_seconds=metrics.node_metric_expiration_seconds)
    usages = {
        load.node.name: NodeUtilization(
            resources, _amounts(resources, load.whole.usage), _amounts(resources, load.capacity)
        )
        for load in found.loads
    }
    by_pod = {key: usage for load in found.loads for key, usage in load.usage_by_pod.items()}
    return MeasuredUsage(handle.evictor, resources, usages, lambda pod: by_pod.get(pod.key))


def _amounts(resources: Iterable[str], nano: Mapping[str, int]) -> Ints:
    """int64[R], in the units of the node table."""
    found = (amount(name, nano.get(name, 0)) for name in resources)
    return np.fromiter(found, dtype=np.int64)


class MeasuredUsage:
    """Implements `Utilization`: what was measured of nodes, by name, and of pods; None of a pod that was not."""

    what = "usage"

    def __init__(
        self,
        evictor: PluginEvictor,
        resources: tuple[str, ...],
        measured: Mapping[str, NodeUtilization],
        usage_of_pod: _UsageOfPod,
    ) -> None:
        self._evictor = evictor
        self.resources = resources
        self._measured = measured
        self._usage_of_pod = usage_of_pod
        self._moved: tuple[BookedArrivals, dict[str, Ints]] | None = None

    def of(self, node: str) -> NodeUtilization | None:
        """The usage of a node; None of one that was not measured."""
        measured = self._measured.get(node)
        if measured is None:
            return None
        taken = measured.taken + self._change_by_node().get(node, 0)
        return NodeUtilization(self.resources, np.maximum(taken, 0), measured.allocatable)

    def need(self, pod: Pod) -> Ints:
        """What was measured of it; 0 where nothing was."""
        usage = self._usage_of_pod(pod)
        return np.zeros(len(self.resources), np.int64) if usage is None else _amounts(self.resources, usage)

    def most_after(self, pod: Pod) -> Ints:
        """As much as the pod."""
        return self.need(pod)

    def problem_over(self, cluster: ClusterProblem) -> Problem:
        """The measured resources as further columns beside those that are requested.

        Nodes have their allocatable of them, less what is used by other things than pods, or as much as their pods use
        now where that is more. Pods that were not measured stay, and no pod comes to or leaves a node that was not.
        """
        problem = cluster.problem
        amounts, allocatable, held = self._need_of(cluster), self._allocatable(cluster), self._held(cluster)
        units = self._units(cluster)
        need = counted_needs(units, amounts, self._most)
        was_measured = np.array([self._usage_of_pod(pod) is not None for pod in cluster.pods], dtype=bool)
        known = np.array([node in self._measured for node in cluster.nodes], dtype=bool)
        used = np.zeros_like(allocatable)
        np.add.at(used, problem.assignment, need)
        return dataclasses.replace(
            problem,
            need=np.hstack((problem.need, need)),
            capacity=np.hstack(
                (problem.capacity, np.where(known[:, None], np.maximum(units.room(allocatable - held), used), used))
            ),
            evictable=problem.evictable & was_measured & known[problem.assignment],
            allowed=problem.allowed & known,
            both_ends=np.append(problem.both_ends, np.zeros(len(self.resources), bool)),
        )

    def ceilings_over(self, cluster: ClusterProblem, targets: UsageTargets) -> Ints:
        """int64[N, R]: no ceiling of requests; of measured usage the targets, less what other things than pods use."""
        ceilings = targets.ceilings(self.resources, self._allocatable(cluster)) - self._held(cluster)
        measured = self._units(cluster).room(ceilings)
        return np.hstack((np.full_like(cluster.problem.capacity, NO_CEILING), measured))

    def _units(self, cluster: ClusterProblem) -> Units:
        """Of the measured resources; rounded as those of `cluster`."""
        units = units_for(self._need_of(cluster), self._most)
        return units.loosest() if cluster.units.for_bounds else units

    @property
    def _most(self) -> Ints:
        """int64[R]: what the largest node has."""
        allocatable = [usage.allocatable for usage in self._measured.values()]
        return np.max(allocatable, axis=0, initial=0) if allocatable else np.zeros(len(self.resources), np.int64)

    def _need_of(self, cluster: ClusterProblem) -> Ints:
        return np.array([self.need(pod) for pod in cluster.pods], np.int64).reshape(-1, len(self.resources))

    def _allocatable(self, cluster: ClusterProblem) -> Ints:
        usages = (self._measured.get(node) for node in cluster.nodes)
        unknown = np.full(len(self.resources), NO_CEILING, np.int64)
        return np.array([unknown if usage is None else usage.allocatable for usage in usages], np.int64)

    def _held(self, cluster: ClusterProblem) -> Ints:
        """int64[N, R]: what a node uses beyond its pods, which may have been measured at another moment."""
        nothing = np.zeros(len(self.resources), np.int64)
        usages = (self.of(node) for node in cluster.nodes)
        taken = np.array([nothing if usage is None else usage.taken for usage in usages], np.int64)
        np.subtract.at(taken, cluster.problem.assignment, self._need_of(cluster))
        return np.maximum(taken, 0)

    def _change_by_node(self) -> dict[str, Ints]:
        """Node → what the moves that are booked have changed of its usage."""
        booked = BookedArrivals(self._evictor)
        if self._moved is None or self._moved[0] != booked:
            self._moved = booked, self._change(booked.arrivals)
        return self._moved[1]

    def _change(self, arrivals: Iterable[tuple[Pod, Pod | None]]) -> dict[str, Ints]:
        change: dict[str, Ints] = {}
        for pod, arrival in arrivals:
            need = self.need(pod)
            change[pod.node_name] = change.get(pod.node_name, 0) - need
            if arrival is not None:
                change[arrival.node_name] = change.get(arrival.node_name, 0) + need
        return change

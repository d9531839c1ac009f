"""BalanceUtilization over a cluster: no node over its target, by the fewest evictions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice

import numpy as np

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.optimizer.arrays import PENDING, Floats
from descheduler.optimizer.objective import Objective
from descheduler.optimizer.objectives.balance_utilization import BalanceUtilization
from descheduler.optimizer.objectives.balance_utilization.cover import smallest_cover
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.problem import Problem
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.moves.connected_moves import connected_moves
from descheduler.planner.objective_args import BalanceUtilizationArgs
from descheduler.planner.objectives.cluster_objective import ClusterObjective, Part
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.planner.unmovable_pods import refused_by_filters, refused_in_every_run, why_most_are_refused
from descheduler.planner.utilization.measured_usage import measured_usage
from descheduler.planner.utilization.node_utilization import NodeUtilization
from descheduler.planner.utilization.targets import UsageTargets
from descheduler.planner.utilization.usage import RequestsAsUsage, UsageMeasure

_MOST_EXAMINED, _MOST_NAMED = 20, 3
"""Nodes that are examined for pods that keep them over their target, and those that are named."""


class BalanceUtilizationObjective(ClusterObjective):
    """`nodes` under their targets."""

    name = "BalanceUtilization"
    noun, state = "node", "over target"
    left_text = "stays over its target"
    """What is said of a node that the plan does not help."""

    def __init__(self, args: BalanceUtilizationArgs, handle: StrategyHandle, nodes: Sequence[Node]) -> None:
        self._usage = _utilization(args, handle, nodes)
        self._view, self._evictor = handle.view, handle.evictor
        self._selected = frozenset(node.name for node in nodes)
        self._names = frozenset(node.name for node in nodes if self._usage.of(node.name) is not None)
        self._targets = self._resolved(args, nodes)
        self._over_before = self._over()
        self._cluster: ClusterProblem

    def _resolved(self, args: BalanceUtilizationArgs, nodes: Sequence[Node]) -> UsageTargets:
        if not args.use_deviation_thresholds:
            return UsageTargets(args.target_thresholds)
        usages = (self._usage.of(node.name) for node in nodes)
        return UsageTargets.above_average(args.target_thresholds, [usage for usage in usages if usage is not None])

    @property
    def proves_resized(self) -> bool:
        """See the base class."""
        return True

    @property
    def shrinks_resized(self) -> bool:
        """Where usage is measured, as replacements are taken to use what their pods do: their requests have to fit."""
        return not isinstance(self._usage, RequestsAsUsage)

    def targets(self) -> Mapping[str, float]:
        """The targets in effect."""
        return self._targets.percent

    def asked_later(self, node: str) -> float:
        """Pods of nodes over their target are to leave."""
        return node not in self._over_before

    def nothing_to_do(self) -> str:
        """That no node is over its target, and which targets have no effect."""
        if self._over_before:
            return ""
        if not self._names:
            return f"no node is over its target ({self._target_text}): no node was measured"
        return "; ".join((f"no node is over its target ({self._target_text})", *self._without_effect()))

    def _without_effect(self) -> Iterator[str]:
        """The targets of resources that no node has."""
        usages = list(map(self._known, self._names))
        known = {name for usage in usages for name, has in zip(usage.resources, usage.allocatable, strict=True) if has}
        for resource, percent in sorted(self._targets.stated.items()):
            if resource not in known:
                yield f"targetThresholds.{resource} ({percent:g}) has no effect: no node has {resource}"

    def figure(self) -> int:
        """Nodes over their target."""
        return len(self._over())

    def text_of(self, number: int) -> str:
        """With the targets that the average comes to."""
        text = super().text_of(number)
        return f"{text} ({self._targets.resolved})" if self._targets.resolved else text

    def problem_over(self, cluster: ClusterProblem) -> Problem:
        """With measured usage among the needs, where the targets are of that.

        Targets limit the capacity too, so that no order of moves brings a node over its target for a while, either.
        That of nodes which are over their target stays, as their pods may go back to them while a plan is searched for.
        """
        problem = self._usage.problem_over(cluster)
        ceilings = np.maximum(self._usage.ceilings_over(cluster, self._targets), 0)
        is_over = (problem.usage(problem.assignment) > ceilings).any(axis=1, keepdims=True)
        return dataclasses.replace(
            problem, capacity=np.where(is_over, problem.capacity, np.minimum(problem.capacity, ceilings))
        )

    def stated_over(self, cluster: ClusterProblem) -> BalanceUtilization:
        """The targets as ceilings, less what is held by other things than pods."""
        self._cluster = cluster
        return BalanceUtilization(self._usage.ceilings_over(cluster, self._targets))

    def relaxed_over(self, cluster: ClusterProblem) -> tuple[Problem, Objective]:
        """With neither targets nor an end of the room of nodes that are not over theirs."""
        problem, ceiling = self.problem_over(cluster), self.stated_over(cluster).ceiling
        over = (problem.usage(problem.assignment) > ceiling).any(axis=1, keepdims=True)
        all_of_it = problem.need.sum(axis=0)
        endless = dataclasses.replace(
            problem, capacity=np.where(over, problem.capacity, np.maximum(problem.capacity, all_of_it))
        )
        return endless, BalanceUtilization(np.where(over, ceiling, np.maximum(ceiling, all_of_it)))

    def reason(self, pod: Pod) -> str:
        """How far the node is over its target, if it is."""
        if pod.node_name not in self._over_before:
            return f"makes room on node {pod.node_name} for pods that leave nodes over their target"
        over = self._targets.text_over(self._known(pod.node_name), self._usage.what)
        return over or f"node {pod.node_name} is over its target: more of its pods have to leave"

    def harm(self, pod: Pod, node: str) -> Verdict:
        """That the node would be over its target."""
        if node not in self._names:
            return ACCEPTED
        over = self._targets.resources_over(self._known(node), self._usage.most_after(pod))
        if not over:
            return ACCEPTED
        message = (
            f"the replacement pod would be scheduled onto {node}, and bring it over its target of"
            f" {self._targets.text_of(over)}{self._suffix}"
        )
        return refuse(Reason.OTHER_LANDING, message, node)

    def in_vain(self, pods: Iterable[Pod]) -> Collection[PodIdentity]:
        """The pods whose node stays over its target without them."""
        leaving = list(pods)
        over = {name for name in {pod.node_name for pod in leaving} if name in self._names and self._is_over(name)}
        return {identity_of(pod) for pod in leaving if pod.node_name in over}

    def remarks(self, against: Mapping[PodIdentity, str]) -> Sequence[str]:
        """Nodes over their target that all pods that can be evicted do not bring under it, each with the cause; targets
        without effect."""
        texts = (self._why_stuck(name) for name in sorted(self._over())[:_MOST_EXAMINED])
        return (*islice(filter(None, texts), _MOST_NAMED), *self._without_effect())

    def _why_stuck(self, name: str) -> str:
        """Empty for a node that others than its protected pods keep over its target.

        Pods that limits of this run reject are counted only where the others do not suffice as the cause.
        """
        usage, pods = self._known(name), self._view.active_pods_on(name)
        excess = usage.taken - self._targets.ceilings(usage.resources, usage.allocatable)
        refused = refused_by_filters(pods, self._evictor)
        for rejected in (refused_in_every_run(refused), refused):
            kept = {id(pod) for pod, _ in rejected}
            movable = sum((self._usage.need(pod) for pod in pods if id(pod) not in kept), np.zeros_like(excess))
            if rejected and not (movable >= excess).all():
                numbers = f"{len(rejected):,} of {counted(len(pods), 'pod')}"
                return f"node {name} {self.left_text}: {numbers} cannot be evicted ({why_most_are_refused(rejected)})"
        return ""

    def obstacles(self, against: Mapping[PodIdentity, str]) -> str:
        """What is said against pods; where no plan moves any, why the largest pods of nodes over their target stay."""
        nodes = () if against else sorted(self._over())[:_MOST_EXAMINED]
        texts = (self._why_kept(name) for name in nodes if not self._why_stuck(name))
        return super().obstacles(against) or "; ".join(islice(filter(None, texts), _MOST_NAMED))

    def _why_kept(self, name: str) -> str:
        """What limits, budgets and the scheduler say of the largest pod that the filters accept; empty for nothing."""
        pods = self._view.active_pods_on(name)
        kept = {id(pod) for pod, _ in refused_by_filters(pods, self._evictor)}
        movable = [pod for pod in pods if id(pod) not in kept]
        excess, need = self._excess_and_needs(name, movable)
        if (need.sum(axis=0) < excess).any():
            return f"node {name} {self.left_text} even if all of its pods leave"
        pod = movable[int((need / excess).max(axis=1).argmax())]
        with self._evictor.what_if():
            verdict = self._evictor.request(pod)
        if verdict.is_accepted:
            return ""
        return f"node {name} {self.left_text}: pod {pod.key} cannot be evicted: {verdict.message}"

    def needs_more_than(self, most: int) -> str:
        """A node over its target which that many of its pods do not bring under it, but more do."""
        numbers = ((name, self._fewest_evictions(name)) for name in sorted(self._over()))
        large = (f"node {name} needs {counted(number, 'eviction')}" for name, number in numbers if number > most)
        return next(large, "")

    def _fewest_evictions(self, name: str) -> int:
        """How many pods bring a node under its target at least; 0 where no pods do."""
        pods = self._view.active_pods_on(name)
        kept = {id(pod) for pod, _ in refused_by_filters(pods, self._evictor)}
        excess, need = self._excess_and_needs(name, [pod for pod in pods if id(pod) not in kept])
        cover = smallest_cover(excess, need, np.ones(len(need), dtype=np.int64)) if len(need) else None
        return 0 if cover is None else cover.bound

    def why_not(self, pod: Pod) -> str:
        """What became of its node."""
        name = pod.node_name
        if name not in self._selected:
            return f"node {name} is not one of the nodes that the policy selects"
        if name not in self._names:
            return f"the usage of node {name} was not measured"
        if name not in self._over_before:
            return f"node {name} is not over its target ({self._target_text})"
        if name not in self._over():
            return f"other pods of node {name} bring it under its target"
        return self._why_stuck(name) or (
            f"node {name} stays over its target ({self._target_text}): no plan found within the limits moves enough of"
            " its pods"
        )

    def groups(self, moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        """Moves that only make room are together with those that take it, before which they are asked for."""
        groups = connected_moves(moves, serves_others=self._only_makes_room)
        return [sorted(group, key=self._only_makes_room, reverse=True) for group in groups]

    def _only_makes_room(self, move: Reassignment) -> bool:
        return self._cluster.nodes[move.source] not in self._over_before

    def substitutes(
        self, moves: Sequence[Reassignment], may_leave: Callable[[int], bool]
    ) -> Sequence[Sequence[Reassignment]]:
        """The cheapest pods whose removal brings the nodes under their targets that `moves` leave."""
        sources = dict.fromkeys(move.source for move in moves if not self._only_makes_room(move))
        covers = [[Reassignment(pod, node, PENDING) for pod in self._cover(node, may_leave)] for node in sources]
        return [cover for cover in covers if cover]

    def _cover(self, node: int, may_leave: Callable[[int], bool]) -> list[int]:
        """Pods that bring a node under its target as things are booked; none where no pods do."""
        cluster = self._cluster
        pods = [pod for pod in np.flatnonzero(cluster.problem.assignment == node).tolist() if may_leave(pod)]
        excess, need = self._excess_and_needs(cluster.nodes[node], [cluster.pods[pod] for pod in pods])
        if not len(excess):
            return []
        cover = smallest_cover(excess, need, cluster.problem.cost[pods])
        return [] if cover is None else [pods[row] for row in cover.chosen]

    def _excess_and_needs(self, name: str, pods: Sequence[Pod]) -> tuple[Floats, Floats]:
        """By how much a node is over its target, float64[R], and what of that `pods` need, float64[P, R].

        Of the resources alone of which it is over.
        """
        usage = self._known(name)
        excess = usage.taken - self._targets.ceilings(usage.resources, usage.allocatable)
        over = np.flatnonzero(excess > 0)
        need = np.array([self._usage.need(pod)[over] for pod in pods], dtype=np.float64).reshape(len(pods), len(over))
        return excess[over].astype(np.float64), need

    def parts(self, cluster: ClusterProblem, moves: Sequence[Reassignment]) -> Iterator[Part]:
        """The moves off each node that was over its target; others only make room for these."""
        for node, leaving in groupby(sorted(moves, key=lambda move: move.source), key=lambda move: move.source):
            name = cluster.nodes[node]
            if name in self._over_before:
                yield Part(1, list(leaving), [pod for pod in cluster.pods if pod.node_name == name])

    @property
    def _target_text(self) -> str:
        return f"{self._targets.text}{self._suffix}"

    @property
    def _suffix(self) -> str:
        """Requests are meant where targets do not say it."""
        return ", measured usage" if self._usage.what == "usage" else ""

    def _known(self, node: str) -> NodeUtilization:
        """Of a node that was measured, as all are that pods leave."""
        usage = self._usage.of(node)
        if usage is None:
            raise AssertionError(f"node {node} was not measured")
        return usage

    def _over(self) -> frozenset[str]:
        return frozenset(filter(self._is_over, self._names))

    def _is_over(self, name: str) -> bool:
        return bool(self._targets.resources_over(self._known(name)))


def _utilization(args: BalanceUtilizationArgs, handle: StrategyHandle, nodes: Sequence[Node]) -> UsageMeasure:
    if args.metrics_utilization is None:
        return RequestsAsUsage(handle.evictor)
    return measured_usage(args.metrics_utilization, handle, nodes, sorted(args.target_thresholds))

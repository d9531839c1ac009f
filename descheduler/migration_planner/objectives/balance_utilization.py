"""BalanceUtilization over a cluster: no node over its target, by the fewest evictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.migration_planner.args import BalanceUtilization
from descheduler.migration_planner.cluster_problem import ClusterProblem
from descheduler.migration_planner.measured_usage import measured_usage
from descheduler.migration_planner.objectives.cluster_objective import ClusterObjective, Part
from descheduler.migration_planner.targets import Targets, Usage
from descheduler.migration_planner.usage import RequestedUsage, Utilization
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.planner.objectives.balance import Balance
from descheduler.planner.problem import Problem
from descheduler.planner.waves import Move

__all__ = ["BalancedNodes"]


class BalancedNodes(ClusterObjective):
    """`nodes` under their targets."""

    name = "BalanceUtilization"
    noun, state = "node", "over target"

    def __init__(self, args: BalanceUtilization, handle: StrategyHandle, nodes: Sequence[Node]) -> None:
        self._usage = _utilization(args, handle, nodes)
        self._selected = frozenset(node.name for node in nodes)
        self._names = frozenset(node.name for node in nodes if self._usage.of(node.name) is not None)
        self._targets = self._resolved(args, nodes)
        self._over_before = self._over()

    def _resolved(self, args: BalanceUtilization, nodes: Sequence[Node]) -> Targets:
        if not args.use_deviation_thresholds:
            return Targets(args.target_thresholds)
        usages = (self._usage.of(node.name) for node in nodes)
        return Targets.above_average(args.target_thresholds, [usage for usage in usages if usage is not None])

    def nothing_to_do(self) -> str:
        """That no node is over its target, and of which resources no node has any."""
        if self._over_before:
            return ""
        missing = [resource for resource in self._targets.stated if resource not in self._usage.resources]
        without = f": no node has {' or '.join(missing)}" if missing else ""
        if not self._names:
            without = ": no node was measured"
        return f"no node is over its target ({self._target_text}){without}"

    def figure(self) -> int:
        """Nodes over their target."""
        return len(self._over())

    def text_of(self, number: int) -> str:
        """With the targets that the average comes to."""
        text = super().text_of(number)
        return f"{text} ({self._targets.resolved})" if self._targets.resolved else text

    def problem_over(self, cluster: ClusterProblem) -> Problem:
        """With measured usage among the needs, where the targets are of that."""
        return self._usage.problem_over(cluster)

    def stated_over(self, cluster: ClusterProblem) -> Balance:
        """The targets as ceilings, less what is held by other things than pods."""
        return Balance(self._usage.ceilings_over(cluster, self._targets))

    def reason(self, pod: Pod) -> str:
        """How far the node is over its target."""
        over = self._targets.text_over(self._known(pod.node_name))
        text = f"{over}{self._usage.suffix}" if over else "more of its pods have to leave"
        return f"node {pod.node_name} is over its target: {text}"

    def harm(self, pod: Pod, node: str) -> Verdict:
        """That the node would be over its target."""
        if node not in self._names:
            return ACCEPTED
        over = self._targets.resources_over(self._known(node), self._usage.need(pod))
        if not over:
            return ACCEPTED
        message = (
            f"the replacement pod would be scheduled onto {node}, and bring it over its target of"
            f" {self._targets.text_of(over)}{self._usage.suffix}"
        )
        return refuse(Reason.OTHER_LANDING, message, node)

    def is_in_vain(self, pod: Pod) -> bool:
        """Whether its node stays over its target without it."""
        return pod.node_name in self._names and self._is_over(pod.node_name)

    def shortfall(self) -> str:
        """That the others stay over it."""
        return "the other nodes cannot be brought under it by a plan that was found within the limits"

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
        return (
            f"node {name} stays over its target ({self._target_text}): no plan that was found brings it under it"
            " within the limits"
        )

    def parts(self, cluster: ClusterProblem, moves: Sequence[Move]) -> Iterator[Part]:
        """The moves off each node that was over its target; others only make room for these."""
        for node, leaving in groupby(sorted(moves, key=lambda move: move.source), key=lambda move: move.source):
            name = cluster.nodes[node]
            if name in self._over_before:
                yield Part(1, list(leaving), [pod for pod in cluster.pods if pod.node_name == name])

    @property
    def _target_text(self) -> str:
        return f"{self._targets.text}{self._usage.suffix}"

    def _known(self, node: str) -> Usage:
        """Of a node that was measured, as all are that pods leave."""
        usage = self._usage.of(node)
        if usage is None:
            raise AssertionError(f"node {node} was not measured")
        return usage

    def _over(self) -> frozenset[str]:
        return frozenset(filter(self._is_over, self._names))

    def _is_over(self, name: str) -> bool:
        return bool(self._targets.resources_over(self._known(name)))


def _utilization(args: BalanceUtilization, handle: StrategyHandle, nodes: Sequence[Node]) -> Utilization:
    if args.metrics_utilization is None:
        return RequestedUsage(handle.evictor)
    return measured_usage(args.metrics_utilization, handle, nodes, sorted(args.target_thresholds))

"""BalanceUtilization over a cluster: no node over its target, by the fewest evictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.migration_planner.args import BalanceUtilization
from descheduler.migration_planner.cluster_problem import ClusterProblem
from descheduler.migration_planner.objectives.cluster_objective import ClusterObjective, Part
from descheduler.migration_planner.targets import Targets, usage_of
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.planner.objectives.balance import Balance
from descheduler.planner.waves import Move

__all__ = ["BalancedNodes"]


class BalancedNodes(ClusterObjective):
    """`nodes` under their targets."""

    name = "BalanceUtilization"
    noun, state = "node", "over target"

    def __init__(self, args: BalanceUtilization, handle: StrategyHandle, nodes: Sequence[Node]) -> None:
        self._targets = Targets(args.target_thresholds)
        self._evictor = handle.evictor
        self._names = frozenset(node.name for node in nodes)
        self._over_before = self._over()

    def nothing_to_do(self) -> str:
        """That no node is over its target, and of which resources no node has any."""
        if self._over_before:
            return ""
        known = self._evictor.prover().openings().resources
        missing = [resource for resource in self._targets.percent if resource not in known]
        without = f": no node has {' or '.join(missing)}" if missing else ""
        return f"no node is over its target ({self._targets.text}){without}"

    def figure(self) -> int:
        """Nodes over their target."""
        return len(self._over())

    def stated_over(self, cluster: ClusterProblem) -> Balance:
        """The targets as ceilings, less what is held by other things than pods."""
        return Balance(self._targets.ceilings(cluster.resources, cluster.allocatable) - cluster.held)

    def reason(self, pod: Pod) -> str:
        """How far the node is over its target."""
        over = self._targets.text_over(usage_of(self._evictor, pod.node_name))
        return f"node {pod.node_name} is over its target: {over or 'more of its pods have to leave'}"

    def harm(self, pod: Pod, node: str) -> Verdict:
        """That the node would be over its target."""
        if node not in self._names:
            return ACCEPTED
        need = self._evictor.prover().openings().need(pod)
        over = self._targets.resources_over(usage_of(self._evictor, node), need)
        if not over:
            return ACCEPTED
        message = (
            f"the replacement pod would be scheduled onto {node}, and bring it over its target of"
            f" {self._targets.text_of(over)}"
        )
        return refuse(Reason.OTHER_LANDING, message, node)

    def shortfall(self) -> str:
        """That the others stay over it."""
        return "the other nodes cannot be brought under it by a plan that was found within the limits"

    def why_not(self, pod: Pod) -> str:
        """What became of its node."""
        name = pod.node_name
        if name not in self._names:
            return f"node {name} is not one of the nodes that the policy selects"
        if name not in self._over_before:
            return f"node {name} is not over its target ({self._targets.text})"
        if name not in self._over():
            return f"other pods of node {name} bring it under its target"
        return (
            f"node {name} stays over its target ({self._targets.text}): no plan that was found brings it under it"
            " within the limits"
        )

    def parts(self, cluster: ClusterProblem, moves: Sequence[Move]) -> Iterator[Part]:
        """The moves off each node that was over its target; others only make room for these."""
        for node, leaving in groupby(sorted(moves, key=lambda move: move.source), key=lambda move: move.source):
            name = cluster.nodes[node]
            if name in self._over_before:
                yield Part(1, list(leaving), [pod for pod in cluster.pods if pod.node_name == name])

    def _over(self) -> frozenset[str]:
        over = (name for name in self._names if self._targets.resources_over(usage_of(self._evictor, name)))
        return frozenset(over)

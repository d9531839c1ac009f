"""DrainNodes over a cluster: the most of some nodes without pods, each whole or not at all."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.optimizer.objectives.consolidate_nodes import ConsolidateNodes
from descheduler.optimizer.problem import Problem
from descheduler.plan.moves import PodIdentity
from descheduler.planner.objective_args import ConsolidateNodesArgs, DrainNodesArgs
from descheduler.planner.objectives.consolidate_nodes import ConsolidateNodesObjective
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.policy.shared_args import compile_selector

__all__ = ["DrainNodesObjective"]

_MOST_NAMED = 10
"""Nodes of which the goal says why they cannot be drained."""


class DrainNodesObjective(ConsolidateNodesObjective):
    """The fewest of the nodes that are to be drained with pods on them.

    As consolidation empties nodes, but no other ones, and every other node receives pods, also one without any.
    """

    name = "DrainNodes"
    noun, state = "node", "to be drained"
    verb = "drained"

    def __init__(self, args: DrainNodesArgs, handle: StrategyHandle, nodes: Sequence[Node]) -> None:
        self._selected = _selected(args, nodes)
        self._missing = sorted(set(args.nodes) - {node.name for node in nodes})
        super().__init__(ConsolidateNodesArgs(), handle, nodes)
        self.nodes_at_once = args.max_unavailable
        self.hint = "cordon the nodes that are to be drained, so that no replacement pod is scheduled onto them"
        self.scheduled_share = 0.0

    def choose_nodes(self) -> None:
        """See the base class; the scheduler of a chosen node needs no hint."""
        self.hint = ""

    def nothing_to_do(self) -> str:
        """That no node is selected, or that none of them has pods."""
        if self._before:
            return ""
        if not self._selected:
            return "; ".join(filter(None, ("no node is to be drained", self._missing_text)))
        have = "has" if len(self._selected) == 1 else "have"
        return f"{counted(len(self._selected), 'node')} to be drained {have} no pods but those of DaemonSets"

    def problem_over(self, cluster: ClusterProblem) -> Problem:
        """Without moves to nodes that are to be drained, now or later."""
        is_selected = np.array([name in self._selected for name in cluster.nodes], dtype=bool)
        return dataclasses.replace(cluster.problem, allowed=cluster.problem.allowed & ~is_selected)

    def stated_over(self, cluster: ClusterProblem) -> ConsolidateNodes:
        """The selected nodes count one each, and the others nothing."""
        stated = super().stated_over(cluster)
        is_selected = np.array([name in self._selected for name in cluster.nodes], dtype=bool)
        has_pods = np.isin(np.arange(len(cluster.nodes)), cluster.problem.assignment)
        self._unplanned = len(self._used()) - int((is_selected & has_pods).sum())
        protected = np.zeros(len(cluster.nodes), bool) if stated.protected is None else stated.protected
        return dataclasses.replace(
            stated, weight=is_selected.astype(np.int64), protected=protected | ~is_selected, receives=~is_selected
        )

    def reason(self, pod: Pod) -> str:
        """Which node it is that is drained."""
        return f"drains node {pod.node_name}"

    def harm(self, pod: Pod, node: str) -> Verdict:
        """That the node is to be drained, too."""
        if node not in self._selected:
            return ACCEPTED
        self._attracted[node] += 1
        message = f"the replacement pod would be scheduled onto {node}, which is to be drained"
        return refuse(Reason.OTHER_LANDING, message, node)

    def obstacles(self, against: Mapping[PodIdentity, str]) -> str:
        """Nothing: `remarks` say of each node what is in the way."""
        del against
        return ""

    def remarks(self) -> Sequence[str]:
        """Of each node that is left what is in the way, and names without a node."""
        left = sorted(self._used())
        found = [f"node {name} cannot be drained: {self._cause(name)}" for name in islice(left, _MOST_NAMED)]
        if len(left) > _MOST_NAMED:
            found.append(f"{len(left) - _MOST_NAMED:,} more nodes cannot be drained")
        return tuple(filter(None, (*found, self._missing_text)))

    def _cause(self, node: str) -> str:
        return self._in_the_way(node) or "no plan found within the limits drains it"

    def why_not(self, pod: Pod) -> str:
        """That its node is not to be drained, or what keeps it from that."""
        name = pod.node_name
        if name not in self._selected:
            return f"node {name} is not to be drained"
        return super().why_not(pod)

    @property
    def _missing_text(self) -> str:
        names = ", ".join(self._missing[:_MOST_NAMED])
        return f"drainNodes.nodes: {names} not found among the nodes of the policy" if self._missing else ""

    def _used(self) -> frozenset[str]:
        return super()._used() & self._selected


def _selected(args: DrainNodesArgs, nodes: Sequence[Node]) -> frozenset[str]:
    """The names of the nodes that the arguments select."""
    selector = compile_selector(args.node_selector)
    conditions = frozenset(args.conditions)
    return frozenset(
        node.name
        for node in nodes
        if node.name in args.nodes
        or (selector is not None and selector.matches(node.labels))
        or not conditions.isdisjoint(node.true_conditions)
    )

"""DrainNodes over a cluster: the most of some nodes without pods, each whole or not at all."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import DEPARTURE_CONDITIONS, ZONE_LABEL, Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.objectives.consolidate_nodes import ConsolidateNodes
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.problem import Problem
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.objective_args import ConsolidateNodesArgs, DrainNodesArgs
from descheduler.planner.objectives.consolidate_nodes import ConsolidateNodesObjective
from descheduler.planner.objectives.drained_nodes import named_nodes, selected_nodes
from descheduler.planner.objectives.unmatched_selectors import unmatched_text
from descheduler.planner.problem.cluster_problem import ClusterProblem

__all__ = ["DrainNodesObjective"]

_MOST_NAMED = 10
"""Nodes of which the goal says why they cannot be drained."""
_CORDON_HINT = "set cordon: true, or cordon the nodes, so that no replacement pod is scheduled onto nodes to be drained"


class DrainNodesObjective(ConsolidateNodesObjective):
    """The fewest of the nodes that are to be drained with pods on them.

    As consolidation empties nodes, but no other ones, and every other node receives pods, also one without any.
    """

    name = "DrainNodes"
    noun, state = "node", "to be drained"
    verb = "drained"

    def __init__(self, args: DrainNodesArgs, handle: StrategyHandle, nodes: Sequence[Node]) -> None:
        files = handle.policy.scheduler_files
        self._selected = selected_nodes(args, nodes, files)
        there = {node.name for node in nodes}
        self._missing = [named for named in named_nodes(args, files) if named.name not in there]
        self._unmatched = unmatched_text("drainNodes.nodeSelector", args.node_selector, nodes)
        self._departing = {node.name: node.true_conditions & DEPARTURE_CONDITIONS for node in nodes}
        self._zones = {node.name: node.labels.get(ZONE_LABEL, "") for node in nodes} if args.zones_in_turn else {}
        super().__init__(ConsolidateNodesArgs(), handle, nodes)
        self.nodes_at_once = args.max_unavailable
        is_open = any(node.name in self._selected and not node.unschedulable for node in nodes)
        self.hint = _CORDON_HINT if is_open else ""
        self.scheduled_share = 0.0

    def choose_nodes(self) -> None:
        """See the base class; the scheduler of a chosen node needs no hint."""
        self.hint = ""

    def nothing_to_do(self) -> str:
        """That no node is selected, or that none of them has pods."""
        if self._before:
            return ""
        if not self._selected:
            return "; ".join(filter(None, ("no node is to be drained", self._unmatched, self._missing_text)))
        have = "has" if len(self._selected) == 1 else "have"
        return f"{counted(len(self._selected), 'node')} to be drained {have} no pods but those of DaemonSets"

    def asked_later(self, node: str) -> float:
        """Pods of other nodes stay."""
        return 0.0 if node in self._selected else math.inf

    def problem_over(self, cluster: ClusterProblem) -> Problem:
        """Without moves to nodes that are to be drained, now or later, by this plan or by their owner, and without
        moves of pods of other nodes, which the bound would not count."""
        is_open = np.array([not self._why_closed(name) for name in cluster.nodes], dtype=bool)
        is_selected = np.array([name in self._selected for name in cluster.nodes], dtype=bool)
        problem = cluster.problem
        evictable = problem.evictable & (problem.assignment != PENDING) & is_selected[problem.assignment]
        return dataclasses.replace(problem, allowed=problem.allowed & is_open, evictable=evictable)

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
        why = self._why_closed(node)
        if not why:
            return ACCEPTED
        self._attracted[node] += 1
        return refuse(Reason.OTHER_LANDING, f"the replacement pod would be scheduled onto {node}, which {why}", node)

    def _why_closed(self, node: str) -> str:
        """Why no replacement is to be scheduled onto `node`; "" for other nodes."""
        if node in self._selected:
            return "is to be drained"
        conditions = sorted(self._departing.get(node, ()))
        return f"has the condition {conditions[0]}" if conditions else ""

    def groups(self, moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        """As the base class has them, but zone by zone where zones are drained in turn."""
        names = list(self._nodes)
        return sorted(super().groups(moves), key=lambda group: self.zone_of(names[group[0].source]))

    def zone_of(self, node: str) -> str:
        """The zone of a node, where zones are drained in turn."""
        return self._zones.get(node, "")

    def obstacles(self, against: Mapping[PodIdentity, str]) -> str:
        """Nothing: `remarks` say of each node what is in the way."""
        del against
        return ""

    def remarks(self, against: Mapping[PodIdentity, str]) -> Sequence[str]:
        """Of each node that is left what is in the way, and names and a selector without a node."""
        left = sorted(self._used())
        found = [f"node {name} cannot be drained: {self._cause(name, against)}" for name in islice(left, _MOST_NAMED)]
        if len(left) > _MOST_NAMED:
            found.append(f"{len(left) - _MOST_NAMED:,} more nodes cannot be drained")
        return tuple(filter(None, (*found, self._unmatched, self._missing_text)))

    def _cause(self, node: str, against: Mapping[PodIdentity, str]) -> str:
        """What is in the way as things are booked, else what was said against a pod of the node in a plan."""
        if text := self._in_the_way(node):
            return text
        pods = {identity_of(pod): pod.key for pod in self._view.active_pods_on(node)}
        said = [f"pod {pods[pod]} cannot be evicted: {text}" for pod, text in against.items() if pod in pods]
        text = min(said, key=len, default="no plan found within the limits drains it")
        return text.removesuffix(f"; {self.hint}")

    def why_not(self, pod: Pod) -> str:
        """That its node is not to be drained, or what keeps it from that."""
        name = pod.node_name
        if name not in self._selected:
            return f"node {name} is not to be drained"
        return super().why_not(pod)

    @property
    def _missing_text(self) -> str:
        """The names without a node, by the key or the line that has them."""
        places = dict[str, list[str]]()
        for named in self._missing[:_MOST_NAMED]:
            places.setdefault(named.place, []).append(named.name)
        found = [f"{place}: {', '.join(names)}" for place, names in places.items()]
        return f"{'; '.join(found)} not found among the nodes of the policy" if found else ""

    def _used(self) -> frozenset[str]:
        return super()._used() & self._selected

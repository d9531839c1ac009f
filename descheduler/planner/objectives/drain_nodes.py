"""DrainNodes over a cluster: the most of some nodes without pods, each whole or not at all."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from itertools import compress, islice

import numpy as np

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import ZONE_LABEL, Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import Verdict
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.objectives.consolidate_nodes import ConsolidateNodes
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.problem import Problem
from descheduler.placement.framework.scheduling_plugin import Compares
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.objective_args import ConsolidateNodesArgs, DrainNodesArgs
from descheduler.planner.objectives.closed_nodes import ClosedNodes
from descheduler.planner.objectives.cluster_objective import AskTogether
from descheduler.planner.objectives.consolidate_nodes import ConsolidateNodesObjective
from descheduler.planner.objectives.drained_nodes import named_nodes, selected_nodes
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
    says_why_each_is_left = True

    def __init__(self, args: DrainNodesArgs, handle: StrategyHandle, nodes: Sequence[Node]) -> None:
        files = handle.policy.scheduler_files
        self._selected = selected_nodes(args, nodes, files)
        there = {node.name for node in nodes}
        self._missing = [named for named in named_nodes(args, files) if named.name not in there]
        self._closed = ClosedNodes((args,), handle, nodes)
        self._zones = {node.name: node.labels.get(ZONE_LABEL, "") for node in nodes} if args.zones_in_turn else {}
        self._causes: Mapping[str, str] = {}
        """Of nodes that are left, as the goal has them."""
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
            return "; ".join(filter(None, ("no node is to be drained", self._missing_text)))
        have = "has" if len(self._selected) == 1 else "have"
        return f"{counted(len(self._selected), 'node')} to be drained {have} no pods but those of DaemonSets"

    def asked_later(self, node: str) -> float:
        """Pods of other nodes stay."""
        return 0.0 if node in self._selected else math.inf

    def problem_over(self, cluster: ClusterProblem) -> Problem:
        """Without moves of pods of other nodes, which the bound would not count."""
        is_selected = np.array([name in self._selected for name in cluster.nodes], dtype=bool)
        problem = cluster.problem
        evictable = problem.evictable & (problem.assignment != PENDING) & is_selected[problem.assignment]
        return dataclasses.replace(problem, evictable=evictable)

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
        del pod
        return self._closed.harm(node)

    def groups(self, moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        """As the base class has them, but zone by zone where zones are drained in turn."""
        names = list(self._nodes)
        return sorted(super().groups(moves), key=lambda group: self.zone_of(names[group[0].source]))

    def zone_of(self, node: str) -> str:
        """The zone of a node, where zones are drained in turn."""
        return self._zones.get(node, "")

    def obstacles(self, against: Mapping[PodIdentity, str]) -> str:
        """Nothing: `causes` say of each node what is in the way."""
        del against
        return ""

    def causes(self, against: Mapping[PodIdentity, str], ask: AskTogether) -> Sequence[str]:
        """Of each node that is left what is in the way."""
        left = sorted(self._used())
        self._causes = {name: self._cause(name, against, ask) for name in islice(left, _MOST_NAMED)}
        found = [f"node {name} cannot be drained: {cause}" for name, cause in self._causes.items()]
        if len(left) > _MOST_NAMED:
            found.append(f"{len(left) - _MOST_NAMED:,} more nodes cannot be drained")
        return tuple(found)

    def remarks(self, against: Mapping[PodIdentity, str]) -> Sequence[str]:
        """The names without a node."""
        del against
        return (self._missing_text,) if self._missing else ()

    def _cause(self, node: str, against: Mapping[PodIdentity, str], ask: AskTogether) -> str:
        """What is in the way as things are booked, else what was said against a pod of the node in a plan."""
        text = (
            self._blocked(node, self._evictor.filter)
            or self._arrived_on(node)
            or self._blocked(node, self._asked_for)
            or self._shut_in(node)
            or self._refused(node, ask)
            or self._said_of(node, against)
        )
        return (text or "no plan found drains it").removesuffix(f"; {self.hint}")

    def _arrived_on(self, node: str) -> str:
        """A pod whose replacement is scheduled onto the node, which keeps it in use."""
        pods = (pod for pod, arrival in self._evictor.arrivals() if arrival is not None and arrival.node_name == node)
        return next(
            (f"this run evicts pod {pod.key}, whose replacement pod would be scheduled onto it" for pod in pods), ""
        )

    def _shut_in(self, node: str) -> str:
        """A pod that has no other node than those that are closed to replacements."""
        openings = self._evictor.prover().openings()
        for pod in self._leaving(node):
            mask = openings.open_to(pod, frozenset({Compares.SPREAD}))
            others = {name for name in compress(openings.nodes, () if mask is None else mask) if name != node}
            if others and all(map(self._closed.why, others)):
                closed = self._closed.named(others)
                return (
                    f"pod {pod.key} cannot be evicted: all other nodes that its replacement pod can be scheduled onto"
                    f" receive no replacement pods ({closed})"
                )
        return ""

    def _refused(self, node: str, ask: AskTogether) -> str:
        """The pod of the node that has to stay if all are asked for together, and whether it is for the others."""
        pods = self._leaving(node)
        pod, verdict = ask(pods)
        if verdict.is_accepted:
            return ""
        blocked = pods[0] if pod is None else pod
        _, alone = ask([blocked])
        if len(pods) == 1 or not alone.is_accepted:
            return f"pod {blocked.key} cannot be evicted: {alone.message}"
        return f"pod {blocked.key} cannot be evicted together with the other pods of the node: {verdict.message}"

    def _leaving(self, node: str) -> Sequence[Pod]:
        """The pods that keep the node in use and have not left yet."""
        pods = (pod for pod in self._view.active_pods_on(node) if pod.keeps_node_in_use)
        return [pod for pod in pods if not (self._view.is_arrival(pod) or self._evictor.has_booked(pod))]

    def _said_of(self, node: str, against: Mapping[PodIdentity, str]) -> str:
        """What was said against a pod of the node in a plan."""
        pods = {identity_of(pod): pod.key for pod in self._leaving(node)}
        said = [f"pod {pods[pod]} cannot be evicted: {text}" for pod, text in against.items() if pod in pods]
        return min(said, key=len, default="")

    def why_not(self, pod: Pod) -> str:
        """That its node is not to be drained, or what keeps it from that."""
        name = pod.node_name
        if name not in self._selected:
            return f"node {name} is not to be drained"
        if name in self._causes and pod.keeps_node_in_use:
            return f"node {name} is not drained: {self._causes[name]}"
        return super().why_not(pod)

    @property
    def _missing_text(self) -> str:
        """The names without a node, by the key or the line that has them."""
        places = dict[str, list[str]]()
        for named in self._missing[:_MOST_NAMED]:
            places.setdefault(named.place, []).append(named.name)
        found = [f"{place}: {', '.join(names)}" for place, names in places.items()]
        return f"{'; '.join(found)} not found among the nodes of the policy" if found else ""

    def _opened(self, moves: Sequence[Reassignment]) -> frozenset[str]:
        """None: nodes that are not to be drained count nothing, with pods or without."""
        del moves
        return frozenset()

    def _used(self) -> frozenset[str]:
        return super()._used() & self._selected

"""DrainNodes over a cluster: the most of some nodes without pods, each whole or not at all."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress, islice

import numpy as np

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import ZONE_LABEL, Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.objectives.consolidate_nodes import ConsolidateNodes
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.problem import Problem
from descheduler.placement.framework.scheduling_plugin import Compares
from descheduler.plan.goals import BlockedNode
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.objective_args import ConsolidateNodesArgs, DrainNodesArgs
from descheduler.planner.objectives.cluster_objective import AskTogether
from descheduler.planner.objectives.consolidate_nodes import ConsolidateNodesObjective
from descheduler.planner.objectives.draining.closed_nodes import ClosedNodes
from descheduler.planner.objectives.draining.drained_nodes import named_nodes, selected_nodes, unmatched_text
from descheduler.planner.problem.cluster_problem import ClusterProblem

_MOST_NAMED = 10
"""Nodes of which the goal says why they cannot be drained."""
_UNKNOWN_CAUSE = "no plan found drains it"
_TURN_IS_OVER = "in this run its pods can be scheduled only after nodes of other zones (zonesInTurn: true)"
_TOGETHER = " together with the other pods of the node"
_AFTER_OTHERS = " after other pods of the node, in any order that was tried"
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
        cluster = handle.view.snapshot
        there = {node.name for node in cluster.nodes}
        self._missing = [named for named in named_nodes(args, files) if named.name not in there]
        processed = {node.name for node in nodes}
        left_out = [node for node in cluster.nodes if node.name not in processed and cluster.shard.owns(node)]
        wanted = selected_nodes(args, left_out, files)
        self._unprocessed = [
            node
            for node in left_out
            if node.name in wanted and any(map(self.counts_pod, cluster.pods_by_node.get(node.name, ())))
        ]
        """Nodes with pods that are to be drained and that no plugin processes."""
        self._unmatched = unmatched_text(args, cluster.nodes)
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
        super().choose_nodes()

    def nothing_to_do(self) -> str:
        """That no node is selected, or that none of them has pods."""
        if self._before:
            return ""
        if not self._selected:
            return "; ".join((*([] if self._unprocessed else ["no node is to be drained"]), *self.remarks({})))
        have = "has" if len(self._selected) == 1 else "have"
        idle = f"{counted(len(self._selected), 'node')} to be drained {have} no pods but those of DaemonSets"
        return "; ".join((idle, *self.remarks({})))

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
        return self._closed.harm(node)

    def groups(self, moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        """As the base class has them, but zone by zone where zones are drained in turn."""
        names = list(self._nodes)
        return sorted(super().groups(moves), key=lambda group: self.zone_of(names[group[0].source]))

    def zone_of(self, node: str) -> str:
        """The zone of a node, where zones are drained in turn."""
        return self._zones.get(node, "")

    def obstacles(self, against: Mapping[PodIdentity, str]) -> str:
        """Nothing: `blocked_nodes` say of each node what is in the way."""
        return ""

    def blocked_nodes(self, against: Mapping[PodIdentity, str], ask: AskTogether) -> Sequence[BlockedNode]:
        """The nodes that are left, of many the first ones, with what is in the way."""
        found = [self._blocked_node(name, against, ask) for name in islice(sorted(self._used()), _MOST_NAMED)]
        self._causes = {each.node: each.cause for each in found}
        return found

    def left_over(self) -> Iterator[Sequence[Pod]]:
        """The pods of each node that is left, of many nodes those with the fewest; none where zones are in turn."""
        if self._zones:
            return
        left = sorted(self._used(), key=lambda name: (len(self._leaving(name)), name))
        for name in left[:_MOST_NAMED]:
            pods = self._leaving(name)
            if pods and not self._arrived_on(name) and all(map(self._may_leave, pods)):
                yield pods

    def _may_leave(self, pod: Pod) -> bool:
        """Whether nothing but a lack of nodes keeps a pod, which others may end that leave before it."""
        verdict = self._evictor.filter(pod)
        verdict = self._asked_for(pod) if verdict.is_accepted else verdict
        return verdict.is_accepted or verdict.reason in (Reason.NO_LANDING, Reason.RETURNS_TO_SOURCE)

    def remarks(self, against: Mapping[PodIdentity, str]) -> Sequence[str]:
        """The nodes that no plugin processes, and names and a selector without a node."""
        return tuple(filter(None, (*self._unprocessed_texts(), self._unmatched, self._missing_text)))

    def _unprocessed_texts(self) -> Iterator[str]:
        for node in self._unprocessed[:_MOST_NAMED]:
            why = "not one of the nodes that the policy selects" if node.is_ready else "not Ready"
            yield f"node {node.name} cannot be drained: it is {why}"
        number = len(self._unprocessed) - _MOST_NAMED
        if number > 0:
            are = "is" if number == 1 else "are"
            yield f"{counted(number, 'more node')} to be drained {are} not Ready or not selected"

    def _blocked_node(self, node: str, against: Mapping[PodIdentity, str], ask: AskTogether) -> BlockedNode:
        """What is in the way as things are booked, else what was said against a pod of the node in a plan."""
        blocked = self._first_blocked(node, self._evictor.filter)
        if blocked is None and (arrived := self._arrived_on(node)):
            return BlockedNode(node, arrived)
        blocked = blocked or self._first_blocked(node, self._asked_for) or self._shut_in(node)
        if blocked is not None:
            return self._by_pod(node, *blocked)
        found = self._refused(node, ask) or self._said_of(node, against)
        return found or BlockedNode(node, _TURN_IS_OVER if self._zones else _UNKNOWN_CAUSE)

    def _by_pod(self, node: str, pod: Pod, verdict: Verdict, how: str = "") -> BlockedNode:
        """The node is not drained because of `pod`; `how` says that it is for the others."""
        message = verdict.message.removesuffix(f"; {self.hint}")
        return BlockedNode(node, f"pod {pod.key} cannot be evicted{how}: {message}", pod, verdict)

    def _arrived_on(self, node: str) -> str:
        """A pod without a node, or whose replacement has none, that is scheduled onto the node and keeps it in use."""
        for pod, arrival in self._evictor.arrivals():
            if arrival is not None and arrival.node_name == node:
                return f"this run evicts pod {pod.key}, whose replacement pod would be scheduled onto it"
        for pod, target in self._evictor.prover().pending_nodes():
            if target == node:
                hint = "" if self._nodes[node].unschedulable else "; cordon the node, or set cordon: true"
                return f"pending pod {pod.key} would be scheduled onto it{hint}"
        return ""

    def _shut_in(self, node: str) -> tuple[Pod, Verdict] | None:
        """A pod that has no other node than those that receive no replacement pods of the plan."""
        openings = self._evictor.prover().openings()
        for pod in self._leaving(node):
            found = openings.open_to(pod, frozenset({Compares.SPREAD}))
            others = {name for name in compress(openings.nodes, () if found is None else found.now) if name != node}
            if others and all(self._closed.why(name) or name not in self._nodes for name in others):
                message = (
                    "all other nodes that its replacement pod can be scheduled onto receive no replacement pods"
                    f" ({self._closed.named(others)})"
                )
                return pod, refuse(Reason.NO_LANDING, message)
        return None

    def _refused(self, node: str, ask: AskTogether) -> BlockedNode | None:
        """The pod of the node that has to stay if all are asked for together, and whether it is for the others."""
        pods = self._leaving(node)
        pod, verdict, is_proven = ask(pods) if pods else (None, ACCEPTED, True)
        if verdict.is_accepted:
            return None
        blocked = pods[0] if pod is None else pod
        _, alone, _ = ask([blocked])
        if not alone.is_accepted:
            return self._by_pod(node, blocked, alone)
        return self._by_pod(node, blocked, verdict, _TOGETHER if is_proven else _AFTER_OTHERS)

    def _leaving(self, node: str) -> Sequence[Pod]:
        """The pods that keep the node in use and have not left yet."""
        pods = (pod for pod in self._view.active_pods_on(node) if pod.keeps_node_in_use)
        return [pod for pod in pods if not (self._view.is_arrival(pod) or self._evictor.has_booked(pod))]

    def _said_of(self, node: str, against: Mapping[PodIdentity, str]) -> BlockedNode | None:
        """What was said against a pod of the node in a plan."""
        said = [(text, pod) for pod in self._leaving(node) if (text := against.get(identity_of(pod)))]
        if not said:
            return None
        text, pod = min(said, key=lambda each: len(each[0]))
        return self._by_pod(node, pod, refuse(Reason.UNSET, text))

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
        return f"{'; '.join(found)} not found among the nodes of the cluster" if found else ""

    def _opened(self, moves: Sequence[Reassignment]) -> frozenset[str]:
        """None: nodes that are not to be drained count nothing, with pods or without."""
        return frozenset()

    def _used(self) -> frozenset[str]:
        return super()._used() & self._selected

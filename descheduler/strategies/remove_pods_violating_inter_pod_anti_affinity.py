"""RemovePodsViolatingInterPodAntiAffinity: evicts pods whose required anti-affinity is violated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.verdict import EvictionLimit
from descheduler.plan.facts import PluginFacts
from descheduler.strategies.shared.pod_filter import PodFilterArgs, pod_filter
from descheduler.strategies.shared.pods import FINISHED, sort_low_to_high
from descheduler.strategies.shared.rules import Match, Rule, found
from descheduler.strategies.shared.selection import Selection, facts_of

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.strategies.shared.anti_affinity_conflicts import AntiAffinityConflicts


class RemovePodsViolatingInterPodAntiAffinityArgs(PodFilterArgs, frozen=True):
    """Arguments of RemovePodsViolatingInterPodAntiAffinity; both restrict the conflict partners too.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatinginterpodantiaffinity/types.go`.
    """


class RemovePodsViolatingInterPodAntiAffinity:
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatinginterpodantiaffinity`."""

    def __init__(self, args: RemovePodsViolatingInterPodAntiAffinityArgs, handle: StrategyHandle) -> None:
        self._view = handle.view
        self._evictor = handle.evictor
        self._args = args
        self._looked_at = Selection()
        self._selection = Selection()
        self._conflicts: AntiAffinityConflicts | None = None
        self._spares_namesakes = handle.policy.compatibility == "upstream"

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evicts node by node, the least important first, the pods whose own anti-affinity is then violated."""
        from descheduler.strategies.shared.anti_affinity_conflicts import AntiAffinityConflicts

        looked_at = self._looked_at = Selection(pod_filter(self._args.namespaces, self._args.label_selector))
        listed = {node.name: looked_at.of(self._standing_on(node)) for node in nodes}
        conflicts = self._conflicts = AntiAffinityConflicts(nodes, listed, spares_namesakes=self._spares_namesakes)
        self._selection = Selection(_rules(conflicts))
        for pods in listed.values():
            # Evictions only ever end conflicts, so a pod without one now need not be looked at again.
            if not self._relieve(self._selection.of(pods), conflicts):
                return

    def facts(self) -> PluginFacts:
        """How many pods state required anti-affinity, and how many of them violate it."""
        return facts_of(self._looked_at, self._selection)

    def why_not(self, pod: Pod) -> str:
        """That it is not looked at, states nothing, or violates nothing once others have left."""
        return FINISHED if pod.is_terminal else self._looked_at.why_not(pod) or self._selection.why_not(pod)

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """With which pod it conflicts there; the scheduler looks at namespaces and topology labels in another way."""
        if self._conflicts is None or self._looked_at.why_not(arrival):
            return ""
        conflict = self._conflicts.find_moved(arrival, pod)
        return "" if conflict is None else conflict.sentence

    def _standing_on(self, node: Node) -> Sequence[Pod]:
        """What earlier rounds of the run have evicted is neither a candidate nor a partner."""
        pods, have_left = self._view.active_pods_on(node.name), self._view.prior_moves
        return [pod for pod in pods if not have_left.have_taken(pod)] if have_left else pods

    def _relieve(self, candidates: Sequence[Pod], conflicts: AntiAffinityConflicts) -> bool:
        """Evicts the `candidates` of a node that still conflict in their turn; returns whether to go on after it."""
        for pod in sort_low_to_high(candidates):
            conflict = conflicts.find(pod)
            if conflict is None or not self._evictor.lets_go(pod, conflict.sentence):
                continue
            verdict = self._evictor.request(pod, conflict.sentence)
            if verdict.limit is EvictionLimit.TOTAL:
                return False
            if verdict.limit is EvictionLimit.NODE:
                return True
            if verdict.is_accepted:
                conflicts.forget(pod)
        return True


def _rules(conflicts: AntiAffinityConflicts) -> Iterator[Rule]:
    """That a pod states required anti-affinity, and that it is violated."""
    yield Match(
        "spec.affinity.podAntiAffinity",
        lambda pod: pod.spec.affinity is not None and bool(pod.spec.affinity.anti_required),
        lambda _: "has no required anti-affinity",
        "no pod has required anti-affinity",
    )
    yield found(
        "requiredDuringSchedulingIgnoredDuringExecution",
        lambda pod: conflict.sentence if (conflict := conflicts.find(pod)) is not None else None,
        miss=lambda pod: f"no other pod violates its required anti-affinity on node {pod.node_name}",
        nobody="no pod violates required anti-affinity",
    )

"""RemovePodsViolatingInterPodAntiAffinity: pods that share a node or zone with a pod they must keep away from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.eviction_limits import EvictionLimit
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Args, LabelSelectorArg, Namespaces, check_namespaces, check_selector
from descheduler.strategies.shared.pod_filter import PodFilter
from descheduler.strategies.shared.pod_order import sort_low_to_high

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.strategies.inter_pod_anti_affinity.conflicts import AntiAffinityConflicts

__all__ = ["RemovePodsViolatingInterPodAntiAffinity", "RemovePodsViolatingInterPodAntiAffinityArgs", "validate_args"]


class RemovePodsViolatingInterPodAntiAffinityArgs(Args, frozen=True):
    """Arguments of RemovePodsViolatingInterPodAntiAffinity; both restrict the conflict partners too.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatinginterpodantiaffinity/types.go`.
    """

    namespaces: Namespaces | None = None
    """Only pods of these namespaces are looked at."""
    label_selector: LabelSelectorArg | None = None
    """Only pods with these labels are looked at."""


def validate_args(args: RemovePodsViolatingInterPodAntiAffinityArgs) -> list[ArgsProblem]:
    """Problems of the namespaces and the label selector."""
    return [*check_namespaces(args.namespaces), *check_selector("labelSelector", args.label_selector)]


class RemovePodsViolatingInterPodAntiAffinity:
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatinginterpodantiaffinity`."""

    def __init__(self, args: RemovePodsViolatingInterPodAntiAffinityArgs, handle: StrategyHandle) -> None:
        self._view = handle.view
        self._evictor = handle.evictor
        self._pods = PodFilter(args.namespaces, args.label_selector)
        self._spares_namesakes = handle.policy.compatibility == "upstream"

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evicts node by node, the least important first, the pods whose own anti-affinity is broken at that moment."""
        from descheduler.strategies.inter_pod_anti_affinity.conflicts import AntiAffinityConflicts

        listed = {
            node.name: [pod for pod in self._view.active_pods_on(node.name) if self._is_looked_at(pod)]
            for node in nodes
        }
        conflicts = AntiAffinityConflicts(nodes, listed, spares_namesakes=self._spares_namesakes)
        for pods in listed.values():
            # Evictions only ever end conflicts, so a pod without one now need not be looked at again.
            if not self._relieve([pod for pod in pods if conflicts.find(pod) is not None], conflicts):
                return

    def _is_looked_at(self, pod: Pod) -> bool:
        """What earlier rounds of the run have evicted is neither a candidate nor a partner."""
        return self._pods.accepts(pod) and not self._view.prior_moves.have_taken(pod)

    def _relieve(self, candidates: Sequence[Pod], conflicts: AntiAffinityConflicts) -> bool:
        """Evicts the `candidates` of a node that still conflict in their turn; returns whether to go on after it."""
        for pod in sort_low_to_high(candidates):
            conflict = conflicts.find(pod)
            if conflict is None or not (self._evictor.admits(pod) and self._evictor.admits_now(pod)):
                continue
            verdict = self._evictor.request(pod, conflict.sentence)
            if verdict.limit is EvictionLimit.TOTAL:
                return False
            if verdict.limit is EvictionLimit.NODE:
                return True
            if verdict.is_accepted:
                conflicts.forget(pod)
        return True

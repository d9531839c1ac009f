"""RemovePodsViolatingNodeAffinity: evicts pods whose node no longer matches their node affinity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import Affinity, NodeMatch, PreferredNodeTerm, match_node, preferred_weight
from descheduler.model.verdict import Reason, refuse
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem
from descheduler.strategies.shared.pod_filter import PodFilterArgs, pod_filter
from descheduler.strategies.shared.pods import FINISHED
from descheduler.strategies.shared.rules import Match, Rule, found
from descheduler.strategies.shared.selection import Selection, evict_from_node, facts_of

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.eviction.node_fit import NodeSet

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NO_FIT = refuse(Reason.NO_NODE_FITS, "the pod fits on no node that the plugin examines")
_NO_MATCH = refuse(
    Reason.NO_NODE_FITS,
    "no node that the plugin examines matches the nodeSelector and required node affinity of the pod",
)


class RemovePodsViolatingNodeAffinityArgs(PodFilterArgs, frozen=True):
    """Arguments of RemovePodsViolatingNodeAffinity.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatingnodeaffinity/types.go`.
    """

    node_affinity_type: tuple[str, ...] = ()
    """Affinity kinds to look at, in this order. Unknown ones load, and only log an error when the plugin runs."""


def validate_args(args: RemovePodsViolatingNodeAffinityArgs) -> list[ArgsProblem]:
    """Problems of `args`; at least one affinity type has to be named, and any name passes."""
    problems = args.filter_problems()
    if not args.node_affinity_type:
        message = "is empty; name requiredDuringSchedulingIgnoredDuringExecution or its preferred counterpart"
        problems.append(ArgsProblem(("nodeAffinityType",), message))
    return problems


class RemovePodsViolatingNodeAffinity:
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatingnodeaffinity`."""

    KEEPS_SELECTION = True

    def __init__(self, args: RemovePodsViolatingNodeAffinityArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._view = handle.view
        self._node_fit = handle.node_fit
        self._evictor = handle.evictor
        self._nodes: dict[str, Node] = {}
        self._looked_at = Selection()
        self._selections: list[Selection] = []
        self._enforced = Selection()

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evicts, one affinity type after the other, pods that fit one of `nodes` and whose own node violates their
        affinity.

        When the limit of the run is reached, the type ends, not the plugin. A type that is not known selects nothing.
        """
        self._nodes = {node.name: node for node in nodes}
        rules = {_REQUIRED: self._requirement(), _PREFERRED: self._preference(PreferredNodes(nodes))}
        node_set = self._node_fit.node_set(nodes)
        known = [rules[name] for name in self._args.node_affinity_type if name in rules]
        self._selections = [Selection((rule,)) for rule in known]
        # What is looked at is the same for every type, so it is counted once.
        for number, selection in enumerate(self._selections):
            looked_at = Selection(self._common_rules())
            self._looked_at = self._looked_at if number else looked_at
            self._enforce(looked_at, selection, nodes, node_set)

    def facts(self) -> PluginFacts:
        """How many pods state node affinity, and of those how many each type leaves alone."""
        by_type = [facts_of(self._looked_at, selection) for selection in self._selections]
        if not by_type:
            return PluginFacts("nodeAffinityType has no known type", 0, 0)
        sentences = dict.fromkeys(facts.why_nothing for facts in by_type)
        return replace(
            by_type[0],
            why_nothing="; ".join(sentences) if all(sentences) else "",
            pods_selected=sum(facts.pods_selected for facts in by_type),
            left_out={key: number for facts in by_type for key, number in facts.left_out.items()},
        )

    def why_not(self, pod: Pod) -> str:
        """That it is not looked at, or why each type leaves it alone."""
        if pod.is_terminal:
            return FINISHED
        misses = [selection.why_not(pod) for selection in self._selections]
        return self._looked_at.why_not(pod) or ("; ".join(misses) if all(misses) else "")

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """How the node violates the same kind of affinity; a better node counts also when it is full."""
        is_selected = not (self._looked_at.why_not(arrival) or self._enforced.why_not(arrival))
        return self._enforced.reason(arrival) if is_selected else ""

    def _enforce(self, looked_at: Selection, selection: Selection, nodes: Sequence[Node], node_set: NodeSet) -> None:
        self._enforced = selection
        for node in nodes:
            selected = selection.of(looked_at.of(self._view.active_pods_on(node.name)))
            victims = [pod for pod in selected if self._may_leave(pod, node_set, selection)]
            if not evict_from_node(self._evictor, victims, selection.reason):
                return

    def _may_leave(self, pod: Pod, nodes: NodeSet, selection: Selection) -> bool:
        if not self._evictor.admits(pod, selection.reason):
            return False
        if not self._node_fit.fits_any(pod, nodes):
            is_selected = self._node_fit.is_selected_by_any(pod, nodes)
            self._evictor.keep(pod, _NO_FIT if is_selected else _NO_MATCH, selection.reason(pod))
            return False
        return self._evictor.admits_now(pod, selection.reason)

    def _common_rules(self) -> Iterator[Rule]:
        yield from pod_filter(self._args.namespaces, self._args.label_selector)
        yield Match(
            "spec.affinity.nodeAffinity",
            lambda pod: pod.spec.affinity is not None and pod.spec.affinity.has_node_affinity,
            lambda _: "has no node affinity",
            "no pod has node affinity",
        )

    def _requirement(self) -> Rule:
        """A required affinity that cannot be evaluated does not match; the plain node selector counts with it."""

        def find(pod: Pod) -> str | None:
            affinity = pod.spec.affinity
            if affinity is None or affinity.node_required is None:
                return None
            node = self._nodes[pod.node_name]
            if match_node(pod.spec.node_selector, affinity, node.name, node.labels) is NodeMatch.MATCHES:
                return None
            return f"node {node.name} does not match its nodeSelector and required node affinity"

        return found(
            _REQUIRED,
            find,
            miss=lambda pod: f"node {pod.node_name} violates no required node affinity",
            nobody="no pod violates required node affinity",
        )

    def _preference(self, best_of: PreferredNodes) -> Rule:
        """The best node need not be one that fits: kubernetes-sigs/descheduler does not ask for that either."""

        def find(pod: Pod) -> str | None:
            affinity = pod.spec.affinity
            if affinity is None or not affinity.node_preferred:
                return None
            node = self._nodes[pod.node_name]
            best, current = best_of.best_weight(affinity), preferred_weight(affinity, node.name, node.labels)
            if best <= current:
                return None
            return f"preferred node affinity has weight {current} on node {node.name}, {best} on another node"

        return found(
            _PREFERRED,
            find,
            miss=lambda pod: f"no node meets its preferred node affinity better than node {pod.node_name}",
            nobody="no node meets preferred node affinity better than the pods' own",
        )


class PreferredNodes:
    """How well a fixed list of nodes meets preferred affinities; that of equal preferences is computed once."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        # numpy takes longer to import than validating a policy may
        from descheduler.placement.shadow.node_masks import NodeTerms

        self._terms = NodeTerms(nodes)
        self._best: dict[tuple[PreferredNodeTerm, ...], int] = {}

    def best_weight(self, affinity: Affinity) -> int:
        """The highest sum of weights that one of the nodes meets; 0 without nodes or preferences."""
        best = self._best.get(affinity.node_preferred)
        if best is None:
            weights = self._terms.weights(affinity.node_preferred)
            best = self._best[affinity.node_preferred] = int(weights.max()) if len(weights) else 0
        return best

"""RemovePodsViolatingNodeAffinity: pods whose node no longer matches their node affinity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.affinity import Affinity, NodeMatch, match_node, preferred_weight
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason, refuse
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Args, LabelSelectorArg, Namespaces, check_namespaces, check_selector
from descheduler.strategies.shared.eviction_loop import evict_from_node
from descheduler.strategies.shared.pod_filter import PodFilter
from descheduler.strategies.shared.preferred_nodes import PreferredNodes

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.eviction.node_fit.node_fit import NodeSet

__all__ = ["RemovePodsViolatingNodeAffinity", "RemovePodsViolatingNodeAffinityArgs", "validate_args"]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NO_FIT = refuse(Reason.NO_NODE_FITS, "no node that the strategy looks at fits it")


class RemovePodsViolatingNodeAffinityArgs(Args, frozen=True):
    """Arguments of RemovePodsViolatingNodeAffinity.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatingnodeaffinity/types.go`.
    """

    namespaces: Namespaces | None = None
    """Only pods of these namespaces are looked at."""
    label_selector: LabelSelectorArg | None = None
    """Only pods with these labels are looked at."""
    node_affinity_type: tuple[str, ...] = ()
    """Affinity kinds to look at, in this order. Unknown ones load, and only log an error when the plugin runs."""


def validate_args(args: RemovePodsViolatingNodeAffinityArgs) -> list[ArgsProblem]:
    """Problems of `args`; at least one affinity type has to be named, and any name passes."""
    problems = [*check_namespaces(args.namespaces), *check_selector("labelSelector", args.label_selector)]
    if not args.node_affinity_type:
        message = "is empty; name requiredDuringSchedulingIgnoredDuringExecution or its preferred counterpart"
        problems.append(ArgsProblem(("nodeAffinityType",), message))
    return problems


class RemovePodsViolatingNodeAffinity:
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatingnodeaffinity`."""

    def __init__(self, args: RemovePodsViolatingNodeAffinityArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._view = handle.view
        self._node_fit = handle.node_fit
        self._evictor = handle.evictor
        self._pods = PodFilter(args.namespaces, args.label_selector)

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evicts, one affinity type after the other, pods that some of `nodes` fits and whose own node does not suit.

        The run's limit ends a type, not the strategy. A type that is not known selects nothing.
        """
        rules: dict[str, _Rule] = {
            _REQUIRED: _breaks_requirement,
            _PREFERRED: _prefers_another(PreferredNodes(nodes)),
        }
        node_set = self._node_fit.node_set(nodes)
        for affinity_type in self._args.node_affinity_type:
            rule = rules.get(affinity_type)
            if rule is not None:
                self._enforce(rule, nodes, node_set)

    def _enforce(self, rule: _Rule, nodes: Sequence[Node], node_set: NodeSet) -> None:
        for node in nodes:
            sentences: dict[int, str] = {}
            victims: list[Pod] = []
            for pod in self._view.active_pods_on(node.name):
                affinity = pod.spec.affinity
                if affinity is None or not affinity.has_node_affinity or not self._pods.accepts(pod):
                    continue
                sentence = rule(pod, affinity, node)
                if sentence is not None and self._may_leave(pod, node_set):
                    victims.append(pod)
                    sentences[id(pod)] = sentence
            if not evict_from_node(self._evictor, victims, lambda pod: sentences[id(pod)]):  # noqa: B023 - used at once
                return

    def _may_leave(self, pod: Pod, nodes: NodeSet) -> bool:
        if not self._evictor.admits(pod):
            return False
        if not self._node_fit.fits_any(pod, nodes):
            self._evictor.keep(pod, _NO_FIT)
            return False
        return self._evictor.admits_now(pod)


_Rule = Callable[[Pod, Affinity, Node], str | None]
"""Why a pod with this node affinity should leave the node, as a sentence, or None when it should not."""


def _breaks_requirement(pod: Pod, affinity: Affinity, node: Node) -> str | None:
    """A required affinity that cannot be evaluated does not match; the plain node selector counts with it."""
    if affinity.node_required is None:
        return None
    if match_node(pod.spec.node_selector, affinity, node.name, node.labels) is NodeMatch.MATCHES:
        return None
    return "its node does not match its node selector and required node affinity"


def _prefers_another(best_of: PreferredNodes) -> _Rule:
    """The best node need not be one that fits: kubernetes-sigs/descheduler does not ask for that either."""

    def rule(_: Pod, affinity: Affinity, node: Node) -> str | None:
        if not affinity.node_preferred:
            return None
        best, current = best_of.best_weight(affinity), preferred_weight(affinity, node.name, node.labels)
        return f"its node meets preferences of weight {current}, another one {best}" if best > current else None

    return rule

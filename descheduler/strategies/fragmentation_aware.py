"""FragmentationAware: evicts a pod from each node whose resources are requested unevenly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY
from descheduler.model.verdict import Reason, refuse
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    LabelSelectorArg,
    Namespaces,
    check_namespaces,
    check_pod_selectors,
    check_selector,
    compile_selector,
)
from descheduler.strategies.shared.koordinator import NO_NODE, PAUSED, not_selected
from descheduler.strategies.shared.pod_filter import evictable_pods
from descheduler.strategies.shared.pods import FINISHED
from descheduler.strategies.shared.rules import Match, Rule
from descheduler.strategies.shared.selection import Selection

if TYPE_CHECKING:
    from descheduler.eviction.node_fit import NodeSet

_RESOURCES = (CPU, MEMORY)
_DRY_RUN = refuse(Reason.DRY_RUN, "FragmentationAware evicts nothing (dryRun: true)")
_NO_FIT = refuse(Reason.NO_NODE_FITS, "no other node that the plugin looks at fits the pod (nodeFit: true)")


class FragmentationAware:
    """Mirrors koordinator-sh/koordinator, main of July 2026, `pkg/descheduler/framework/plugins/fragmentationaware`.

    Devices do not count, and neither does what a pod does to the balance of its next node.
    """

    def __init__(self, args: FragmentationAwareArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._view = handle.view
        self._node_fit = handle.node_fit
        self._evictor = handle.evictor
        self._looked_at = Selection()
        self._selection = Selection()
        self._balances: dict[str, NodeBalance] = {}
        self._chosen: dict[str, Pod] = {}

    def balance(self, nodes: Sequence[Node]) -> None:
        """Evicts at most one pod from each node whose imbalance is above `imbalanceThreshold`.

        The imbalance is the standard deviation of the requested shares of allocatable over `resources`. The pod is the
        one without which it falls most, among those that may be evicted and fit another of the nodes; when its eviction
        is refused in the end, no other pod of the node is tried.
        """
        args = self._args
        self._looked_at = Selection(
            evictable_pods(args.evictable_namespaces, [entry.selector for entry in args.pod_selectors])
        )
        self._selection = Selection((*self._looked_at.rules, self._improvement()))
        self._balances = {}
        self._chosen = {}
        if args.paused:
            return
        selector = compile_selector(args.node_selector)
        looked_at = [node for node in nodes if selector is None or selector.matches(node.labels)]
        node_set = self._node_fit.node_set(looked_at)
        for node in looked_at:
            pods = self._view.active_pods_on(node.name)
            self._balances[node.name] = balance = NodeBalance.of(node, pods, args.resources)
            if balance.imbalance > args.imbalance_threshold:
                self._relieve(balance, self._selection.of(pods), node_set)

    def facts(self) -> PluginFacts:
        """How many nodes are imbalanced, and what left the pods of these nodes out."""
        imbalanced = [each for each in self._balances.values() if each.imbalance > self._args.imbalance_threshold]
        facts = replace(self._selection.facts(), counts={"imbalancedNodes": len(imbalanced)})
        if self._args.paused or not imbalanced:
            return replace(facts, why_nothing=PAUSED if self._args.paused else self._all_balanced())
        return facts

    def why_not(self, pod: Pod) -> str:
        """That its node is balanced, the first rule that it does not meet, or that another pod of it is chosen."""
        if self._args.paused:
            return PAUSED
        if pod.is_terminal:
            return FINISHED
        balance = self._balances.get(pod.node_name)
        if balance is None:
            return not_selected(pod)
        if balance.imbalance <= self._args.imbalance_threshold:
            return f"node {pod.node_name} is balanced: {self._said(balance)}"
        return self._selection.why_not(pod) or self._why_not_chosen(pod)

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """The imbalance of the node with the pod, when that is too high and falls enough without it."""
        if arrival.node_name not in self._balances or self._looked_at.why_not(arrival):
            return ""
        node, args = after.nodes[arrival.node_name], self._args
        balance = NodeBalance.of(node, [*after.active_pods_on(node.name), arrival], args.resources)
        if balance.imbalance <= args.imbalance_threshold or balance.gain(arrival) <= args.min_improvement_threshold:
            return ""
        return f"imbalance of node {node.name}: {self._said(balance)}"

    def _why_not_chosen(self, pod: Pod) -> str:
        chosen = self._chosen.get(pod.node_name)
        if chosen is None or chosen is pod:
            return ""
        return f"pod {chosen.key} lowers the imbalance of node {pod.node_name} more"

    def _improvement(self) -> Rule:
        args = self._args
        limit = _number(args.min_improvement_threshold)
        return Match(
            "minImprovementThreshold",
            lambda pod: self._gain(pod) > args.min_improvement_threshold,
            lambda pod: (
                f"imbalance of node {pod.node_name} {_change(self._gain(pod))} without the pod "
                f"(minImprovementThreshold: {limit})"
            ),
            f"no pod lowers the imbalance of its node enough (minImprovementThreshold: {limit})",
        )

    def _relieve(self, balance: NodeBalance, pods: Sequence[Pod], nodes: NodeSet) -> None:
        """Asks for the eviction of the best of `pods`, the first of equals."""
        for pod in sorted(pods, key=lambda pod: -balance.gain(pod)):
            reason = f"imbalance of node {pod.node_name}: {self._said(balance)}, "
            reason += f"{_number(balance.without(pod).imbalance)} without the pod"
            if self._may_go(pod, nodes, reason):
                self._chosen[pod.node_name] = pod
                self._evict(pod, reason)
                return

    def _may_go(self, pod: Pod, nodes: NodeSet, reason: str) -> bool:
        if not self._evictor.admits(pod, reason):
            return False
        if self._args.node_fit and not self._node_fit.has_room_on_any_other(pod, nodes):
            self._evictor.keep(pod, _NO_FIT, reason)
            return False
        return True

    def _evict(self, pod: Pod, reason: str) -> None:
        if not self._evictor.admits_now(pod, reason):
            return
        if self._args.dry_run:
            self._evictor.keep(pod, _DRY_RUN, reason)
        else:
            self._evictor.request(pod, reason)

    def _gain(self, pod: Pod) -> float:
        return self._balances[pod.node_name].gain(pod)

    def _said(self, balance: NodeBalance) -> str:
        """Its imbalance beside the threshold."""
        return f"{_number(balance.imbalance)} (imbalanceThreshold: {_number(self._args.imbalance_threshold)})"

    def _all_balanced(self) -> str:
        worst = max(self._balances.values(), key=lambda each: each.imbalance, default=None)
        if worst is None:
            return NO_NODE
        return f"no node is imbalanced: the highest is {worst.node.name} with {self._said(worst)}"


def _change(gain: float) -> str:
    return f"{'rises' if gain < 0 else 'falls'} by {_number(abs(gain))}"


def _number(value: float) -> str:
    """With four decimals at most."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


class NodeBalance(msgspec.Struct, frozen=True):
    """What is requested of a node, in nano units by resource. Resources that the node does not have are left out."""

    node: Node
    requested: Mapping[str, int]

    @classmethod
    def of(cls, node: Node, pods: Sequence[Pod], resources: Iterable[str]) -> NodeBalance:
        """The balance of `node` with `pods`, over `resources`."""
        names = [name for name in resources if node.allocatable.get(name, 0)]
        return cls(node, {name: sum(pod.spec.requests.get(name, 0) for pod in pods) for name in names})

    @property
    def imbalance(self) -> float:
        """The population standard deviation of the requested shares of allocatable; 0 without any resource.

        Mirrors koordinator-sh/koordinator, main of July 2026,
        `pkg/descheduler/framework/plugins/fragmentationaware/scorer.go`.
        """
        shares = [nano / self.node.allocatable[name] for name, nano in self.requested.items()]
        if not shares:
            return 0.0
        mean = sum(shares) / len(shares)
        return sqrt(sum((share - mean) ** 2 for share in shares) / len(shares))

    def without(self, pod: Pod) -> NodeBalance:
        """The balance when `pod`, which is one of its pods, has left."""
        requests = pod.spec.requests
        return NodeBalance(self.node, {name: nano - requests.get(name, 0) for name, nano in self.requested.items()})

    def gain(self, pod: Pod) -> float:
        """By how much the imbalance falls without `pod`; below 0 when it rises."""
        return self.imbalance - self.without(pod).imbalance


class FragmentationAwarePodSelector(Args, frozen=True):
    """One entry of `podSelectors`."""

    selector: LabelSelectorArg | None = None
    """Labels of the pods; an entry without it does not count."""


class FragmentationAwareArgs(Args, frozen=True):
    """Arguments of FragmentationAware.

    Source: koordinator-sh/koordinator main of July 2026
    `pkg/descheduler/apis/config/v1alpha2/types_fragmentationaware.go`.
    """

    paused: bool = False
    """Whether the plugin does nothing."""
    dry_run: bool = False
    """Whether the plugin selects pods and evicts none."""
    node_selector: LabelSelectorArg | None = None
    """Only these nodes are looked at, as the nodes that pods leave and as those that take them."""
    evictable_namespaces: Namespaces | None = None
    """Only pods of these namespaces are examined; `include` or `exclude`."""
    pod_selectors: tuple[FragmentationAwarePodSelector, ...] = ()
    """Only pods with the labels of one of these are examined; all pods when empty."""
    node_fit: bool = True
    """Whether a pod must fit another node: node selector, required affinity, taints and requests."""
    resources: tuple[str, ...] = _RESOURCES
    """Resources whose requested shares of allocatable are compared."""
    imbalance_threshold: float = 0.15
    """A node whose imbalance, the standard deviation of these shares, is above this gives one pod away."""
    min_improvement_threshold: float = 0.02
    """By more than this the imbalance has to fall without the pod."""


def default_args(args: FragmentationAwareArgs) -> FragmentationAwareArgs:
    """`args` with resources, where the list is empty."""
    return args if args.resources else msgspec.structs.replace(args, resources=_RESOURCES)


def construction_problems(args: FragmentationAwareArgs) -> list[ArgsProblem]:
    """What keeps the plugin from being built: a resource twice, thresholds below 0, selectors and namespaces."""
    return [
        *_check_resources(args.resources),
        *_check_threshold("imbalanceThreshold", args.imbalance_threshold),
        *_check_threshold("minImprovementThreshold", args.min_improvement_threshold),
        *check_selector("nodeSelector", args.node_selector),
        *check_pod_selectors(entry.selector for entry in args.pod_selectors),
        *check_namespaces(args.evictable_namespaces, "evictableNamespaces"),
    ]


def _check_resources(resources: tuple[str, ...]) -> Iterator[ArgsProblem]:
    for index, name in enumerate(resources):
        if name in resources[:index]:
            yield ArgsProblem(("resources", index), f"{name!r} is given twice; keep one of them")


def _check_threshold(field: str, value: float) -> Iterator[ArgsProblem]:
    if value < 0:
        yield ArgsProblem((field,), f"{value:g} is below 0")

"""CustomPriority: evicts pods from expensive nodes when cheaper nodes have room for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.quantity import ceil_milli, ceil_value
from descheduler.model.requests import CPU, MEMORY
from descheduler.model.selection.labels import LabelError, LabelSelector
from descheduler.model.verdict import Reason, Verdict, refuse
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    LabelSelectorArg,
    Namespaces,
    check_pod_selectors,
    check_selector,
    compile_selector,
    one_of,
)
from descheduler.strategies.framework import StrategyError
from descheduler.strategies.shared.koordinator import NO_NODE, PAUSED, PodSelector, container_request, not_selected
from descheduler.strategies.shared.pod_filter import evictable_pods
from descheduler.strategies.shared.pods import FINISHED
from descheduler.strategies.shared.selection import Selection

if TYPE_CHECKING:
    from descheduler.eviction.node_fit import NodeSet, TrialRoom

BEST_EFFORT = "BestEffort"
DRAIN_NODE = "DrainNode"
_MODES = (BEST_EFFORT, DRAIN_NODE)
_LEAST_LEVELS = 2
_MOST_MISSES = 5
"""Pods in a row that fit nowhere, after which Koordinator gives a node up."""
_DRY_RUN = refuse(Reason.DRY_RUN, "CustomPriority evicts nothing (dryRun: true)")
_NO_ROOM = refuse(Reason.NO_NODE_FITS, "no node of a later level of evictionOrder fits the pod")
_GIVEN_UP = refuse(
    Reason.NO_NODE_FITS, f"not examined: {_MOST_MISSES} smaller pods in a row fit no node of a later level"
)


class CustomPriority:
    """Mirrors koordinator-sh/koordinator 1.8 `pkg/descheduler/framework/plugins/custompriority/custom_priority.go`.

    Nodes are not cordoned, and pods that have finished are left alone.
    """

    def __init__(self, args: CustomPriorityArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._view = handle.view
        self._node_fit = handle.node_fit
        self._evictor = handle.evictor
        self._selection = Selection()
        self._levels: Sequence[EvictionOrderLevel] = ()
        self._level_by_node: dict[str, EvictionOrderLevel] = {}
        self._looked_at = frozenset[str]()

    def balance(self, nodes: Sequence[Node]) -> None:
        """Goes through the levels of `evictionOrder` but the last. All nodes of later levels may take its pods.

        `BestEffort` takes the pods of a node from the smallest request to the largest, evicts each that fits a node of
        a later level, and leaves the node after five in a row that do not. `DrainNode` places all candidates of a node
        on later nodes first, beside those of the nodes before it, and evicts them when all have a place; it leaves the
        node at the first pod whose eviction is refused. Pods that the filter plugins refuse are not candidates and do
        not keep the others of their node from leaving.

        Raises StrategyError for a `nodeSelector` that is not valid.
        """
        args = self._args
        self._selection = Selection(
            evictable_pods(args.evictable_namespaces, [entry.selector for entry in args.pod_selectors])
        )
        looked_at = self._selected(nodes)
        self._looked_at = frozenset(node.name for node in looked_at)
        self._levels = levels_of(args.eviction_order, looked_at)
        self._level_by_node = {node.name: level for level in self._levels for node in level.nodes}
        if self._stop():
            return
        for index, level in enumerate(self._levels[:-1]):
            self._relieve(level, self._levels[index + 1 :])

    def facts(self) -> PluginFacts:
        """How many nodes the levels have, and what left the pods of all but the last out."""
        facts = self._selection.facts()
        return PluginFacts(
            why_nothing=self._stop() or facts.why_nothing,
            pods_examined=facts.pods_examined,
            pods_selected=facts.pods_selected,
            left_out=facts.left_out,
            counts={"levels": len(self._levels), "nodesInLevels": len(self._level_by_node)},
        )

    def why_not(self, pod: Pod) -> str:
        """That the node of `pod` is none that pods leave, or the first rule that `pod` does not meet."""
        if stop := self._stop():
            return stop
        if pod.is_terminal:
            return FINISHED
        if pod.node_name not in self._looked_at:
            return not_selected(pod)
        level = self._level_by_node.get(pod.node_name)
        if level is None:
            return f"node {pod.node_name} matches no level of evictionOrder"
        if level is self._levels[-1]:
            return f"node {pod.node_name} is in {level.name}, the last level of evictionOrder with nodes"
        return self._selection.why_not(pod)

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """The level of the node, unless it is a later one than that of `pod`: that is a gain, the last one or not."""
        level, left = (self._level_by_node.get(each.node_name) for each in (arrival, pod))
        if level is None or left is None or self._levels.index(level) > self._levels.index(left):
            return ""
        return "" if self._selection.why_not(arrival) else f"level {level.name} of evictionOrder"

    def _selected(self, nodes: Sequence[Node]) -> Sequence[Node]:
        try:
            selector = compile_selector(self._args.node_selector)
        except LabelError as error:
            raise StrategyError(f"nodeSelector: {error}") from error
        return nodes if selector is None else [node for node in nodes if selector.matches(node.labels)]

    def _stop(self) -> str:
        """Why the plugin does not look at a single pod; empty when it does."""
        if self._args.paused:
            return PAUSED
        if not self._looked_at:
            return NO_NODE
        if len(self._levels) < 2:
            found = f"only {self._levels[0].name} has" if self._levels else "none has"
            return f"at least 2 levels of evictionOrder must have nodes, {found}"
        return ""

    def _relieve(self, level: EvictionOrderLevel, later: Sequence[EvictionOrderLevel]) -> None:
        takers = self._node_fit.node_set([node for each in later for node in each.nodes])
        mode = DRAIN_NODE if self._args.mode == DRAIN_NODE else BEST_EFFORT
        names = ", ".join(each.name for each in later)
        reason = f"in level {level.name} of evictionOrder, before {names} (mode: {mode})"
        if mode == DRAIN_NODE:
            self._drain(level, takers, reason)
        else:
            self._evict_what_fits(level, takers, reason)

    def _evict_what_fits(self, level: EvictionOrderLevel, takers: NodeSet, reason: str) -> None:
        for node in level.nodes:
            for pod in list(self._fitting(self._candidates(node, reason), takers, reason)):
                self._evict(pod, reason)

    def _fitting(self, pods: Sequence[Pod], takers: NodeSet, reason: str) -> Iterator[Pod]:
        """The `pods` that fit one of `takers`, as far as they are looked at; of the others it is noted."""
        num_misses = 0
        for pod in pods:
            if num_misses == _MOST_MISSES:
                self._evictor.keep(pod, _GIVEN_UP, reason)
            elif self._args.node_fit and not self._node_fit.has_room_on_any_other(pod, takers):
                num_misses += 1
                self._evictor.keep(pod, _NO_ROOM, reason)
            else:
                num_misses = 0
                yield pod

    def _drain(self, level: EvictionOrderLevel, takers: NodeSet, reason: str) -> None:
        from descheduler.eviction.node_fit import TrialRoom

        room = TrialRoom(self._node_fit, takers, checks_fit=self._args.node_fit)
        for node in level.nodes:
            self._drain_node(node, room, reason)

    def _drain_node(self, node: Node, room: TrialRoom, reason: str) -> None:
        pods = self._candidates(node, reason)
        misfit = room.place_all(pods)
        if misfit is not None:
            verdict = _not_drained(node, misfit)
            for pod in pods:
                self._evictor.keep(pod, _NO_ROOM if pod is misfit else verdict, reason)
            return
        for pod in pods:
            if not self._evict(pod, reason):
                return

    def _candidates(self, node: Node, reason: str) -> list[Pod]:
        """The pods of a node that may leave it, the smallest first."""
        selected = self._selection.of(self._view.active_pods_on(node.name))
        return sorted((pod for pod in selected if self._evictor.admits(pod, reason)), key=_size)

    def _evict(self, pod: Pod, reason: str) -> bool:
        """Asks for the eviction; whether the next pod of a node that is drained comes after it."""
        if self._args.dry_run:
            self._evictor.keep(pod, _DRY_RUN, reason)
            return True
        return self._evictor.request(pod, reason).is_accepted


def _not_drained(node: Node, misfit: Pod) -> Verdict:
    message = f"node {node.name} is not drained: pod {misfit.key} fits no node of a later level (mode: {DRAIN_NODE})"
    return refuse(Reason.NO_NODE_FITS, message, misfit.key)


def _size(pod: Pod) -> tuple[int, int, str, str]:
    """What the containers request, then the name."""
    cpu_milli = ceil_milli(container_request(pod, CPU))
    memory_bytes = ceil_value(container_request(pod, MEMORY))
    return cpu_milli, memory_bytes, pod.namespace, pod.name


class EvictionOrderLevel(msgspec.Struct, frozen=True):
    """The nodes of one entry of `evictionOrder`; at least one."""

    name: str
    nodes: tuple[Node, ...]


def levels_of(order: Iterable[ResourcePriority], nodes: Sequence[Node]) -> list[EvictionOrderLevel]:
    """The levels of `order` that have some of `nodes`; each node is in the first whose selector it matches.

    Nothing matches a selector that is not valid.
    """
    selectors = {entry.name: _compiled(entry.node_selector) for entry in order}
    nodes_by_level: dict[str, list[Node]] = {name: [] for name in selectors}
    for node in nodes:
        matching = (name for name, each in selectors.items() if each is not None and each.matches(node.labels))
        if (first := next(matching, None)) is not None:
            nodes_by_level[first].append(node)
    return [EvictionOrderLevel(name, tuple(members)) for name, members in nodes_by_level.items() if members]


def _compiled(selector: LabelSelectorArg | None) -> LabelSelector | None:
    try:
        return compile_selector(selector)
    except LabelError:
        return None


class ResourcePriority(Args, frozen=True):
    """One level of `evictionOrder`: nodes of one price."""

    name: str = ""
    """Name of the level; each has its own."""
    node_selector: LabelSelectorArg | None = None
    """Nodes of the level. A node that several levels select belongs to the first of them."""
    keep_threshold: Mapping[str, float] | None = None
    """Read, and without effect, as in Koordinator."""
    reject_threshold: Mapping[str, float] | None = None
    """Read, and without effect, as in Koordinator."""


class CustomPriorityArgs(Args, frozen=True):
    """Arguments of CustomPriority.

    Source: koordinator-sh/koordinator 1.8 `pkg/descheduler/apis/config/v1alpha2/types_custompriority.go`.
    """

    paused: bool = False
    """Whether the plugin does nothing."""
    dry_run: bool = False
    """Whether the plugin selects pods and evicts none."""
    evictable_namespaces: Namespaces | None = None
    """Only pods of these namespaces are examined."""
    node_selector: LabelSelectorArg | None = None
    """Only these nodes are looked at, as the nodes that pods leave and as those that take them."""
    pod_selectors: tuple[PodSelector, ...] = ()
    """Only pods with the labels of one of these are examined; all pods when empty."""
    node_fit: bool = True
    """Whether a node must match node selector, required affinity, taints and requests of a pod to count for it."""
    eviction_order: tuple[ResourcePriority, ...] = ()
    """Two levels or more, the most expensive nodes first."""
    mode: Annotated[str, one_of(_MODES)] = BEST_EFFORT
    """`BestEffort` evicts each pod that fits; `DrainNode` empties a node when all its candidates fit, else nothing."""
    auto_cordon: bool = False
    """Without effect: no node is cordoned."""


def construction_problems(args: CustomPriorityArgs) -> list[ArgsProblem]:
    """What keeps the plugin from being built: fewer than two levels, levels alike or without nodes, bad selectors."""
    problems = [*_check_levels(args.eviction_order)]
    if len(args.eviction_order) < _LEAST_LEVELS:
        message = f"has {len(args.eviction_order)} of at least {_LEAST_LEVELS} levels, each with name and nodeSelector"
        problems.append(ArgsProblem(("evictionOrder",), message))
    return [*problems, *check_pod_selectors(entry.selector for entry in args.pod_selectors)]


def _check_levels(levels: tuple[ResourcePriority, ...]) -> Iterator[ArgsProblem]:
    seen = set[str]()
    for index, level in enumerate(levels):
        if not level.name:
            yield ArgsProblem(("evictionOrder", index, "name"), "is missing; give each level a name")
        elif level.name in seen:
            message = f"{level.name!r} is the name of an earlier level too"
            yield ArgsProblem(("evictionOrder", index, "name"), message)
        seen.add(level.name)
        if level.node_selector is None:
            message = "is missing; select the nodes of the level"
            yield ArgsProblem(("evictionOrder", index, "nodeSelector"), message)


def warnings(args: CustomPriorityArgs) -> list[ArgsProblem]:
    """What is accepted as Koordinator accepts it, and does less than it seems to."""
    found = [
        ArgsProblem(("evictionOrder", index, *problem.path), f"{problem.message}; the level has no nodes")
        for index, level in enumerate(args.eviction_order)
        for problem in check_selector("nodeSelector", level.node_selector)
    ]
    if args.mode and args.mode not in _MODES:
        message = f"{args.mode!r} is not one of {', '.join(_MODES)}; {BEST_EFFORT} is used"
        found.append(ArgsProblem(("mode",), message))
    if args.auto_cordon:
        found.append(ArgsProblem(("autoCordon",), "has no effect: nodes are not cordoned"))
    return found

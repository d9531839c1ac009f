"""Arguments of CustomPriority."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    LabelSelectorArg,
    Namespaces,
    check_pod_selectors,
    check_selector,
    one_of,
)

__all__ = [
    "BEST_EFFORT",
    "DRAIN_NODE",
    "CustomPriorityArgs",
    "CustomPriorityPodSelector",
    "ResourcePriority",
    "construction_problems",
    "warnings",
]

BEST_EFFORT = "BestEffort"
DRAIN_NODE = "DrainNode"
_MODES = (BEST_EFFORT, DRAIN_NODE)
_LEAST_LEVELS = 2


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


class CustomPriorityPodSelector(Args, frozen=True):
    """One entry of `podSelectors`."""

    name: str = ""
    """For the reader."""
    selector: LabelSelectorArg | None = None
    """Labels of the pods; an entry without it does not count."""


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
    pod_selectors: tuple[CustomPriorityPodSelector, ...] = ()
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

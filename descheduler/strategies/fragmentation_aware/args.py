"""Arguments of FragmentationAware."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from descheduler.model.requests import CPU, MEMORY
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    LabelSelectorArg,
    Namespaces,
    check_namespaces,
    check_pod_selectors,
    check_selector,
)

__all__ = [
    "FragmentationAwareArgs",
    "FragmentationAwarePodSelector",
    "construction_problems",
    "default_args",
]

_RESOURCES = (CPU, MEMORY)


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

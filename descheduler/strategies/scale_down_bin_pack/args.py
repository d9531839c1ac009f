"""Arguments of ScaleDownBinPack."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Annotated

import msgspec

from descheduler.model.requests import CPU, MEMORY
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    Int32OrPercent,
    LabelSelectorArg,
    Namespaces,
    check_int_or_percent,
    check_namespaces,
    check_pod_selectors,
    check_selector,
    one_of,
)

__all__ = [
    "CALCULATE_ONLY",
    "EVICT_DIRECTLY",
    "ScaleDownBinPackArgs",
    "ScaleDownBinPackPodSelector",
    "construction_problems",
    "warnings",
    "weights_of",
]

CALCULATE_ONLY = "CalculateOnly"
EVICT_DIRECTLY = "EvictDirectly"
_STRATEGIES = (CALCULATE_ONLY, EVICT_DIRECTLY)
_RESOURCES = (CPU, MEMORY)


class ScaleDownBinPackPodSelector(Args, frozen=True):
    """One entry of `podSelectors`."""

    name: str = ""
    """For the reader."""
    selector: LabelSelectorArg | None = None
    """Labels of the pods; an entry without it does not count."""


class ScaleDownBinPackArgs(Args, frozen=True):
    """Arguments of ScaleDownBinPack.

    Source: koordinator-sh/koordinator main of July 2026
    `pkg/descheduler/apis/config/v1alpha2/types_scaledownbinpack.go`.
    """

    paused: bool = False
    """Whether the plugin does nothing."""
    strategy: Annotated[str, one_of(_STRATEGIES)] = CALCULATE_ONLY
    """`EvictDirectly` evicts pods in the order of their ranks; `CalculateOnly` ranks them and evicts none."""
    max_pods_to_evict: Int32OrPercent | None = None
    """Pods that one run of the plugin may evict; required for `EvictDirectly`. A percentage such as `10%` is one of the
    pods that it ranks, rounded down, and at least 1."""
    node_selector: LabelSelectorArg | None = None
    """Only pods of these nodes are examined."""
    pod_selectors: tuple[ScaleDownBinPackPodSelector, ...] = ()
    """Only pods with the labels of one of these are ranked; all pods when empty."""
    evictable_namespaces: Namespaces | None = None
    """Only pods of these namespaces are ranked; `include` or `exclude`."""
    resources: tuple[str, ...] = _RESOURCES
    """Resources that are compared."""
    resource_weights: Mapping[str, float] = msgspec.field(default_factory=dict)
    """Weights of resources, above 0; 1 for those of `resources` without one."""


def weights_of(args: ScaleDownBinPackArgs) -> Mapping[str, float]:
    """The weight of each resource that counts, in name order."""
    weights = {**dict.fromkeys(args.resources or _RESOURCES, 1.0), **args.resource_weights}
    return dict(sorted(weights.items()))


def construction_problems(args: ScaleDownBinPackArgs) -> list[ArgsProblem]:
    """What keeps the plugin from being built: the strategy, its limit, selectors, namespaces and weights."""
    return [
        *_check_strategy(args),
        *check_selector("nodeSelector", args.node_selector),
        *check_pod_selectors(entry.selector for entry in args.pod_selectors),
        *check_namespaces(args.evictable_namespaces, "evictableNamespaces"),
        *(
            ArgsProblem(("resourceWeights", name), f"{weight:g} is not a number above 0")
            for name, weight in sorted(args.resource_weights.items())
            if not (weight > 0 and isfinite(weight))
        ),
    ]


def _check_strategy(args: ScaleDownBinPackArgs) -> list[ArgsProblem]:
    if args.strategy and args.strategy not in _STRATEGIES:
        return [ArgsProblem(("strategy",), f"{args.strategy!r} is not one of {', '.join(_STRATEGIES)}")]
    most = args.max_pods_to_evict
    if problems := check_int_or_percent(("maxPodsToEvict",), most):
        return problems
    if args.strategy != EVICT_DIRECTLY or isinstance(most, str) or (most is not None and most > 0):
        return []
    found = "is missing" if most is None else f"{most} is not above 0"
    return [ArgsProblem(("maxPodsToEvict",), f"{found}; strategy {EVICT_DIRECTLY} needs it")]


def warnings(args: ScaleDownBinPackArgs) -> list[ArgsProblem]:
    """That a plugin which only calculates changes nothing here."""
    if args.paused or args.strategy == EVICT_DIRECTLY:
        return []
    message = (
        f"{CALCULATE_ONLY} has no effect: the annotation controller.kubernetes.io/pod-deletion-cost is not written"
    )
    return [ArgsProblem(("strategy",), message)]

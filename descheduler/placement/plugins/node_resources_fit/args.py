"""Arguments of `NodeResourcesFit`, by the rules of Kubernetes 1.36.

These are in `pkg/scheduler/apis/config/v1/defaults.go` and `pkg/scheduler/apis/config/validation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, cast, get_args

import msgspec
from msgspec.structs import replace

from descheduler.documents.decode import Path
from descheduler.documents.problems import shown
from descheduler.model.selection.labels import key_problem
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.plugins.helper.scores import ShapePoint, ShapePointSection, read_shape, shown_shape
from descheduler.policy.shared_args import Args

__all__ = ["ARGS", "NodeResourcesFitArgs", "ResourceWeight", "ScoringStrategyType"]

ScoringStrategyType = Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]
_STRATEGIES: tuple[ScoringStrategyType, ...] = get_args(ScoringStrategyType)
_Weight = Annotated[int, msgspec.Meta(ge=0, le=100)]


class ResourceWeight(msgspec.Struct, frozen=True):
    """A resource that takes part in scoring, and its weight from 1 to 100."""

    name: str
    weight: int = 1


class NodeResourcesFitArgs(msgspec.Struct, frozen=True):
    """What the filter leaves out, and how free room is scored."""

    ignored_resources: frozenset[str] = frozenset()
    """Extended resources that are not checked; those that an extender takes over are among them."""
    ignored_resource_groups: frozenset[str] = frozenset()
    """Prefixes, without `/`, of extended resources that are not checked."""
    strategy: ScoringStrategyType = "LeastAllocated"
    resources: tuple[ResourceWeight, ...] = (ResourceWeight("cpu"), ResourceWeight("memory"))
    """At least one, in the order given."""
    shape: tuple[ShapePoint, ...] = ()
    """At least one point, by ascending utilization, for RequestedToCapacityRatio; empty for the other strategies."""


class ResourceSection(Args, frozen=True):
    """A resource to score; weight 0 stands for 1."""

    name: str = ""
    """Name of the resource."""
    weight: _Weight = 0
    """1 to 100; 1 when 0 or not given."""


class RatioSection(Args, frozen=True):
    """`requestedToCapacityRatio`."""

    shape: tuple[ShapePointSection, ...] = ()
    """Points of the function from utilization to score, by ascending utilization; at least one."""


class ScoringStrategySection(Args, frozen=True):
    """`scoringStrategy`."""

    type: str = ""
    """`LeastAllocated` (the default) prefers empty nodes, `MostAllocated` full ones, `RequestedToCapacityRatio` follows
    a shape."""
    resources: tuple[ResourceSection, ...] = ()
    """What is scored; cpu and memory alike by default."""
    requested_to_capacity_ratio: RatioSection | None = None
    """For the strategy of that name alone."""


class NodeResourcesFitSection(Args, frozen=True):
    """`NodeResourcesFitArgs`."""

    ignored_resources: tuple[str, ...] = ()
    """Extended resources that are not checked."""
    ignored_resource_groups: tuple[str, ...] = ()
    """All extended resources of a group are not checked, such as example.com."""
    scoring_strategy: ScoringStrategySection | None = None
    """How free room is scored."""


def _read_fit(block: ArgsBlock, section: NodeResourcesFitSection) -> NodeResourcesFitArgs:
    for index, resource in enumerate(section.ignored_resources):
        if key_problem(resource):
            message = f"{shown(resource)} is not the name of a resource, such as example.com/gpu"
            block.fail(("ignoredResources", index), message)
    for index, group in enumerate(section.ignored_resource_groups):
        if "/" in group or key_problem(group):
            message = f"{shown(group)} is not a group of resources; write the part before the '/', such as example.com"
            block.fail(("ignoredResourceGroups", index), message)
    fit = NodeResourcesFitArgs(frozenset(section.ignored_resources), frozenset(section.ignored_resource_groups))
    if section.scoring_strategy is not None:
        fit = _with_strategy(block, section.scoring_strategy, fit)
    return fit


def _with_strategy(
    block: ArgsBlock, section: ScoringStrategySection, fit: NodeResourcesFitArgs
) -> NodeResourcesFitArgs:
    place: Path = ("scoringStrategy",)
    block.choose((*place, "type"), section.type, _STRATEGIES)
    strategy = cast(ScoringStrategyType, section.type)
    resources = tuple(ResourceWeight(resource.name, resource.weight or 1) for resource in section.resources)
    ratio = section.requested_to_capacity_ratio
    shape: tuple[ShapePoint, ...] = ()
    if strategy == "RequestedToCapacityRatio":
        place = (*place, "requestedToCapacityRatio")
        if ratio is None:
            block.fail(place, "is missing; the strategy RequestedToCapacityRatio needs a shape")
        else:
            shape = read_shape(block, ratio.shape, (*place, "shape"))
    elif ratio is not None:
        message = "counts for the strategy RequestedToCapacityRatio only, ignored; Kubernetes 1.36 refuses it"
        block.warn((*place, "requestedToCapacityRatio"), message)
    return replace(fit, strategy=strategy, resources=resources or fit.resources, shape=shape)


def _ignoring(args: NodeResourcesFitArgs, names: frozenset[str]) -> NodeResourcesFitArgs:
    """What extenders look after takes the place of the own list."""
    return replace(args, ignored_resources=names)


def _shown(args: NodeResourcesFitArgs) -> Mapping[str, object]:
    return {
        "ignoredResources": sorted(args.ignored_resources),
        "ignoredResourceGroups": sorted(args.ignored_resource_groups),
        "scoringStrategy.type": args.strategy,
        "scoringStrategy.resources": [{"name": each.name, "weight": each.weight} for each in args.resources],
        "scoringStrategy.requestedToCapacityRatio.shape": shown_shape(args.shape),
    }


ARGS = ArgsKind(NodeResourcesFitSection, _read_fit, NodeResourcesFitArgs, _shown, _ignoring)

"""`pluginConfig` of a scheduler profile: arguments decoded strictly, checked and defaulted as kube-scheduler does.

Rules are those of Kubernetes 1.36 (`pkg/scheduler/apis/config/v1/defaults.go` and
`pkg/scheduler/apis/config/validation/validation_pluginargs.go`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from typing import Any, cast, get_args

import msgspec

from descheduler.documents.decode import Path, Strictness
from descheduler.documents.document import Node
from descheduler.documents.problems import did_you_mean, shown
from descheduler.model.affinity import TopologySpreadConstraint
from descheduler.model.labels import key_problem
from descheduler.placement.configuration.kube_scheduler.added_affinity import read_added_affinity
from descheduler.placement.configuration.kube_scheduler.plugin_args import (
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PluginArgs,
    PodTopologySpreadArgs,
    ResourceWeight,
    ScoringStrategyType,
    ShapePoint,
)
from descheduler.placement.configuration.kube_scheduler.plugin_args_sections import (
    DefaultPreemptionSection,
    DynamicResourcesSection,
    InterPodAffinitySection,
    NodeAffinityArgsSection,
    NodeResourcesBalancedAllocationSection,
    NodeResourcesFitSection,
    PodTopologySpreadSection,
    ScoringStrategySection,
    ShapePointSection,
    SpreadConstraintSection,
    VolumeBindingSection,
)
from descheduler.policy.checks import Checks

__all__ = ["CONFIGURABLE", "SCHEDULER_API_VERSION", "ArgsBlock", "read_plugin_args"]

SCHEDULER_API_VERSION = "kubescheduler.config.k8s.io/v1"
"""The only version that kube-scheduler reads since Kubernetes 1.29."""

_STRATEGIES: tuple[ScoringStrategyType, ...] = get_args(ScoringStrategyType)
_DEFAULTING_TYPES = ("System", "List")
_WHEN_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")
_INCLUSION_POLICIES = ("Honor", "Ignore")


@dataclass(frozen=True, slots=True)
class ArgsBlock:
    """The `args` of one entry of `pluginConfig`: where they stand, and where findings about them go."""

    checks: Checks
    path: Path

    def fail(self, path: Path, message: str) -> None:
        """Record a problem at `path` below the arguments."""
        self.checks.fail_load((*self.path, *path), message)

    def warn(self, path: Path, message: str) -> None:
        """Record a warning at `path` below the arguments."""
        self.checks.warn((*self.path, *path), message)

    def choose(self, path: Path, text: str, known: Sequence[str]) -> None:
        """Record a problem unless `text`, which stands at `path`, is one of `known`."""
        if not text:
            self.fail(path, f"is missing; give one of {', '.join(known)}")
        elif text not in known:
            self.fail(path, f"{shown(text)} is not one of {', '.join(known)}{did_you_mean(text, known)}")


def read_plugin_args(checks: Checks, name: str, node: Node, path: Path, args: PluginArgs) -> PluginArgs:
    """`args` with those of the plugin `name`, one of `CONFIGURABLE`, taken from `node`, which stands at `path`.

    What is wrong with them is recorded in `checks`; they are then left as they were, or hold defaults.
    """
    reader = CONFIGURABLE[name]
    section = checks.load.struct(node, reader.section, path, Strictness("error", "error", type_meta=True))
    block = ArgsBlock(checks, path)
    _check_type_meta(block, name, node)
    return args if section is None else reader.read(block, section, args)


def _check_type_meta(block: ArgsBlock, name: str, node: Node) -> None:
    members = node.value if isinstance(node.value, Mapping) else {}
    for key, expected in (("apiVersion", SCHEDULER_API_VERSION), ("kind", f"{name}Args")):
        given = members[key].node.value if key in members else None
        if isinstance(given, str) and given not in ("", expected):
            block.fail((key,), f"is {shown(given)}, but the arguments of {name} say {expected}, or nothing")


def _read_fit(block: ArgsBlock, section: NodeResourcesFitSection, args: PluginArgs) -> PluginArgs:
    for index, resource in enumerate(section.ignored_resources):
        if key_problem(resource):
            message = f"{shown(resource)} is not the name of a resource, such as example.com/gpu"
            block.fail(("ignoredResources", index), message)
    for index, group in enumerate(section.ignored_resource_groups):
        if "/" in group or key_problem(group):
            message = f"{shown(group)} is not a group of resources; write what stands before the '/', as example.com"
            block.fail(("ignoredResourceGroups", index), message)
    fit = NodeResourcesFitArgs(frozenset(section.ignored_resources), frozenset(section.ignored_resource_groups))
    if section.scoring_strategy is not None:
        fit = _with_strategy(block, section.scoring_strategy, fit)
    return replace(args, node_resources_fit=fit)


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
            shape = _read_shape(block, ratio.shape, (*place, "shape"))
    elif ratio is not None:
        message = "counts for the strategy RequestedToCapacityRatio only, ignored; Kubernetes 1.36 refuses it"
        block.warn((*place, "requestedToCapacityRatio"), message)
    return replace(fit, strategy=strategy, resources=resources or fit.resources, shape=shape)


def _read_shape(block: ArgsBlock, points: Sequence[ShapePointSection], path: Path) -> tuple[ShapePoint, ...]:
    if not points:
        block.fail(path, "is empty; give at least one point, such as {utilization: 0, score: 10}")
    for index, (before, point) in enumerate(pairwise(points), start=1):
        if before.utilization >= point.utilization:
            message = (
                f"{point.utilization} is not above {before.utilization}, that of the point before; sort the points"
            )
            block.fail((*path, index, "utilization"), message)
            break
    return tuple(ShapePoint(point.utilization, point.score) for point in points)


def _read_balanced(block: ArgsBlock, section: NodeResourcesBalancedAllocationSection, args: PluginArgs) -> PluginArgs:
    names: list[str] = []
    for index, resource in enumerate(section.resources):
        if resource.name in names:
            block.fail(("resources", index, "name"), f"{shown(resource.name)} is listed twice; keep one of them")
        if resource.weight not in (0, 1):
            block.fail(("resources", index, "weight"), f"{resource.weight} is not 1; balance has no weights")
        names.append(resource.name)
    if not names:
        return args
    return replace(args, node_resources_balanced_allocation=NodeResourcesBalancedAllocationArgs(tuple(names)))


def _read_node_affinity(block: ArgsBlock, section: NodeAffinityArgsSection, args: PluginArgs) -> PluginArgs:
    if section.added_affinity is None:
        return args
    affinity = read_added_affinity(block.checks, section.added_affinity, (*block.path, "addedAffinity"))
    return replace(args, node_affinity=NodeAffinityArgs(affinity))


def _read_spread(block: ArgsBlock, section: PodTopologySpreadSection, args: PluginArgs) -> PluginArgs:
    defaulting = section.defaulting_type or "System"
    block.choose(("defaultingType",), defaulting, _DEFAULTING_TYPES)
    if defaulting == "System":
        if section.default_constraints:
            message = "is System, which leaves no room for defaultConstraints; say List, or remove them"
            block.fail(("defaultingType",), message)
        return args
    constraints = tuple(
        _read_constraint(block, constraint, ("defaultConstraints", index), section.default_constraints[:index])
        for index, constraint in enumerate(section.default_constraints)
    )
    return replace(args, pod_topology_spread=PodTopologySpreadArgs(constraints, is_system_defaulted=False))


def _read_constraint(
    block: ArgsBlock, section: SpreadConstraintSection, path: Path, earlier: Sequence[SpreadConstraintSection]
) -> TopologySpreadConstraint:
    if section.max_skew < 1:
        block.fail((*path, "maxSkew"), f"{section.max_skew} is below 1")
    if not section.topology_key:
        block.fail((*path, "topologyKey"), "is missing; name the label that tells domains apart")
    elif problem := key_problem(section.topology_key):
        block.fail((*path, "topologyKey"), problem)
    block.choose((*path, "whenUnsatisfiable"), section.when_unsatisfiable, _WHEN_UNSATISFIABLE)
    if section.label_selector is not None:
        message = "is given, but it follows from each pod's services and owner; remove it"
        block.fail((*path, "labelSelector"), message)
    pair = section.topology_key, section.when_unsatisfiable
    if pair in ((other.topology_key, other.when_unsatisfiable) for other in earlier):
        block.fail(path, f"{shown(pair[0])} is constrained by an earlier {pair[1]} too; keep one of them")
    _check_policies(block, section, path)
    return TopologySpreadConstraint(
        max_skew=section.max_skew,
        topology_key=section.topology_key,
        when_unsatisfiable=section.when_unsatisfiable,
        match_label_keys=section.match_label_keys,
        node_affinity_policy=section.node_affinity_policy,
        node_taints_policy=section.node_taints_policy,
        min_domains=section.min_domains,
    )


def _check_policies(block: ArgsBlock, section: SpreadConstraintSection, path: Path) -> None:
    """kube-scheduler accepts any word here, and takes what is not Honor for Ignore."""
    given = {"nodeAffinityPolicy": section.node_affinity_policy, "nodeTaintsPolicy": section.node_taints_policy}
    for key, policy in given.items():
        if policy not in _INCLUSION_POLICIES:
            hint = did_you_mean(policy, _INCLUSION_POLICIES)
            block.warn((*path, key), f"{shown(policy)} is neither Honor nor Ignore and counts as Ignore{hint}")


def _read_inter_pod_affinity(block: ArgsBlock, section: InterPodAffinitySection, args: PluginArgs) -> PluginArgs:
    read = InterPodAffinityArgs(section.hard_pod_affinity_weight, section.ignore_preferred_terms_of_existing_pods)
    return replace(args, inter_pod_affinity=read)


def _read_volume_binding(block: ArgsBlock, section: VolumeBindingSection, args: PluginArgs) -> PluginArgs:
    if section.shape is not None:
        message = "is not looked at; kube-scheduler scores storage with the gate StorageCapacityScoring only"
        block.warn(("shape",), message)
    return args


def _read_default_preemption(block: ArgsBlock, section: DefaultPreemptionSection, args: PluginArgs) -> PluginArgs:
    if section.min_candidate_nodes_percentage == section.min_candidate_nodes_absolute == 0:
        block.fail(("minCandidateNodesPercentage",), "is 0, and so is minCandidateNodesAbsolute; raise one of them")
    return args


def _read_dynamic_resources(block: ArgsBlock, section: DynamicResourcesSection, args: PluginArgs) -> PluginArgs:
    if section.filter_timeout is not None and section.filter_timeout < timedelta(0):
        block.fail(("filterTimeout",), "is negative; 0s stands for no limit")
    if section.binding_timeout is not None and section.binding_timeout < timedelta(seconds=1):
        block.fail(("bindingTimeout",), "is below 1s")
    return args


@dataclass(frozen=True, slots=True)
class ArgsReader:
    """How the arguments of one plugin are read: their wire type, and what takes it into the arguments in use."""

    section: type[msgspec.Struct]
    read: Callable[[ArgsBlock, Any, PluginArgs], PluginArgs]


CONFIGURABLE: Mapping[str, ArgsReader] = {
    "DefaultPreemption": ArgsReader(DefaultPreemptionSection, _read_default_preemption),
    "DynamicResources": ArgsReader(DynamicResourcesSection, _read_dynamic_resources),
    "InterPodAffinity": ArgsReader(InterPodAffinitySection, _read_inter_pod_affinity),
    "NodeAffinity": ArgsReader(NodeAffinityArgsSection, _read_node_affinity),
    "NodeResourcesBalancedAllocation": ArgsReader(NodeResourcesBalancedAllocationSection, _read_balanced),
    "NodeResourcesFit": ArgsReader(NodeResourcesFitSection, _read_fit),
    "PodTopologySpread": ArgsReader(PodTopologySpreadSection, _read_spread),
    "VolumeBinding": ArgsReader(VolumeBindingSection, _read_volume_binding),
}
"""Plugins of kube-scheduler that take arguments."""

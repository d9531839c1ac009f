"""Arguments of kube-scheduler's plugins as `kubescheduler.config.k8s.io/v1` spells them."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import msgspec

from descheduler.placement.configuration.kube_scheduler.added_affinity import NodeAffinitySection
from descheduler.policy.shared_args import Args, Int32, Int64, LabelSelectorArg

__all__ = [
    "DefaultPreemptionSection",
    "DynamicResourcesSection",
    "InterPodAffinitySection",
    "NodeAffinityArgsSection",
    "NodeResourcesBalancedAllocationSection",
    "NodeResourcesFitSection",
    "Percent",
    "PodTopologySpreadSection",
    "ResourceSection",
    "ScoringStrategySection",
    "ShapePointSection",
    "SpreadConstraintSection",
    "VolumeBindingSection",
]

Percent = Annotated[int, msgspec.Meta(ge=0, le=100)]
_Weight = Annotated[int, msgspec.Meta(ge=0, le=100)]
_Score = Annotated[int, msgspec.Meta(ge=0, le=10)]
_NotNegative = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class ResourceSection(Args, frozen=True):
    """A resource to score; weight 0 stands for 1."""

    name: str = ""
    weight: _Weight = 0


class ShapePointSection(Args, frozen=True):
    """One point of a shape."""

    utilization: Percent = 0
    score: _Score = 0


class RatioSection(Args, frozen=True):
    """`requestedToCapacityRatio`."""

    shape: tuple[ShapePointSection, ...] = ()


class ScoringStrategySection(Args, frozen=True):
    """`scoringStrategy`."""

    type: str = ""
    resources: tuple[ResourceSection, ...] = ()
    requested_to_capacity_ratio: RatioSection | None = None


class NodeResourcesFitSection(Args, frozen=True):
    """`NodeResourcesFitArgs`."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategySection | None = None


class BalancedResourceSection(Args, frozen=True):
    """A resource to balance; its weight is 1, or not given."""

    name: str = ""
    weight: Int64 = 0


class NodeResourcesBalancedAllocationSection(Args, frozen=True):
    """`NodeResourcesBalancedAllocationArgs`."""

    resources: tuple[BalancedResourceSection, ...] = ()


class NodeAffinityArgsSection(Args, frozen=True):
    """`NodeAffinityArgs`."""

    added_affinity: NodeAffinitySection | None = None


class SpreadConstraintSection(Args, frozen=True):
    """One of `defaultConstraints`."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelectorArg | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str = "Honor"
    node_taints_policy: str = "Ignore"
    match_label_keys: tuple[str, ...] = ()


class PodTopologySpreadSection(Args, frozen=True):
    """`PodTopologySpreadArgs`."""

    default_constraints: tuple[SpreadConstraintSection, ...] = ()
    defaulting_type: str = ""


class InterPodAffinitySection(Args, frozen=True):
    """`InterPodAffinityArgs`."""

    hard_pod_affinity_weight: Percent = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class VolumeBindingSection(Args, frozen=True):
    """`VolumeBindingArgs`."""

    bind_timeout_seconds: _NotNegative | None = None
    shape: tuple[ShapePointSection, ...] | None = None


class DefaultPreemptionSection(Args, frozen=True):
    """`DefaultPreemptionArgs`."""

    min_candidate_nodes_percentage: Percent | None = None
    min_candidate_nodes_absolute: _NotNegative | None = None


class DynamicResourcesSection(Args, frozen=True):
    """`DynamicResourcesArgs`."""

    filter_timeout: timedelta | None = None
    binding_timeout: timedelta | None = None

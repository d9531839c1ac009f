"""Arguments of kube-scheduler's plugins as placement reads them, with the defaults of Kubernetes 1.36.

Of the plugins that are not here none takes arguments that change where a pod fits, or which node is best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from descheduler.model.affinity import Affinity, TopologySpreadConstraint

__all__ = [
    "SYSTEM_DEFAULT_CONSTRAINTS",
    "InterPodAffinityArgs",
    "NodeAffinityArgs",
    "NodeResourcesBalancedAllocationArgs",
    "NodeResourcesFitArgs",
    "PluginArgs",
    "PodTopologySpreadArgs",
    "ResourceWeight",
    "ScoringStrategyType",
    "ShapePoint",
]

ScoringStrategyType = Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]


@dataclass(frozen=True, slots=True)
class ResourceWeight:
    """A resource that takes part in scoring, and its weight from 1 to 100."""

    name: str
    weight: int = 1


@dataclass(frozen=True, slots=True)
class ShapePoint:
    """One point of a scoring function: the score, 0 to 10, at a utilization in percent."""

    utilization_percent: int
    score: int


@dataclass(frozen=True, slots=True)
class NodeResourcesFitArgs:
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


@dataclass(frozen=True, slots=True)
class NodeResourcesBalancedAllocationArgs:
    """Names of the resources whose shares are balanced; at least one, none twice."""

    resources: tuple[str, ...] = ("cpu", "memory")


@dataclass(frozen=True, slots=True)
class NodeAffinityArgs:
    """Node affinity that holds for every pod of the profile on top of its own.

    Only the node terms of `added_affinity` are set, and none of them has an error. Preferred terms that can have no
    effect, being empty or of weight 0, are left out.
    """

    added_affinity: Affinity | None = None


SYSTEM_DEFAULT_CONSTRAINTS = (
    TopologySpreadConstraint(3, "kubernetes.io/hostname", "ScheduleAnyway"),
    TopologySpreadConstraint(5, "topology.kubernetes.io/zone", "ScheduleAnyway"),
)
"""What spreads pods without constraints of their own unless the profile says otherwise."""


@dataclass(frozen=True, slots=True)
class PodTopologySpreadArgs:
    """Constraints for pods that have none of their own. Their selector follows from the pod, so none is set here."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = SYSTEM_DEFAULT_CONSTRAINTS
    is_system_defaulted: bool = True
    """Whether they are the system's, for which nodes without a key are not left out of scoring."""


@dataclass(frozen=True, slots=True)
class InterPodAffinityArgs:
    """How the affinity of existing pods counts in scoring."""

    hard_pod_affinity_weight: int = 1
    """Weight, 0 to 100, of a required affinity term of an existing pod that the incoming pod matches."""
    ignores_preferred_terms_of_existing_pods: bool = False
    """Whether an incoming pod without preferred terms is not scored at all."""


@dataclass(frozen=True, slots=True)
class PluginArgs:
    """The arguments in use in a profile, by plugin."""

    node_resources_fit: NodeResourcesFitArgs = NodeResourcesFitArgs()
    node_resources_balanced_allocation: NodeResourcesBalancedAllocationArgs = NodeResourcesBalancedAllocationArgs()
    node_affinity: NodeAffinityArgs = NodeAffinityArgs()
    pod_topology_spread: PodTopologySpreadArgs = PodTopologySpreadArgs()
    inter_pod_affinity: InterPodAffinityArgs = InterPodAffinityArgs()

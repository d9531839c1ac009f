"""The scheduling plugins of this program: one table, name to what filters and what scores under it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from descheduler.placement.filters.dynamic_resources import DynamicResources
from descheduler.placement.filters.inter_pod_affinity import InterPodAffinity
from descheduler.placement.filters.node_affinity import NodeAffinity
from descheduler.placement.filters.node_declared_features import NodeDeclaredFeatures
from descheduler.placement.filters.node_name import NodeName
from descheduler.placement.filters.node_ports import NodePorts
from descheduler.placement.filters.node_resources_fit import NodeResourcesFit
from descheduler.placement.filters.node_unschedulable import NodeUnschedulable
from descheduler.placement.filters.node_volume_limits import NodeVolumeLimits
from descheduler.placement.filters.pod_topology_spread import PodTopologySpread
from descheduler.placement.filters.scheduling_gates import SchedulingGates
from descheduler.placement.filters.taint_toleration import TaintToleration
from descheduler.placement.filters.volume_binding import VolumeBinding
from descheduler.placement.filters.volume_restrictions import VolumeRestrictions
from descheduler.placement.filters.volume_zone import VolumeZone
from descheduler.placement.scores.image_locality import ImageLocality
from descheduler.placement.scores.inter_pod_affinity import InterPodAffinityScore
from descheduler.placement.scores.node_affinity import NodeAffinityScore
from descheduler.placement.scores.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from descheduler.placement.scores.node_resources_fit import NodeResourcesFitScore
from descheduler.placement.scores.pod_topology_spread import PodTopologySpreadScore
from descheduler.placement.scores.taint_toleration import TaintTolerationScore

if TYPE_CHECKING:
    from descheduler.placement.framework import Plugin, ScorePlugin
    from descheduler.placement.shadow_cluster import ShadowCluster
    from descheduler.policy.scheduler_configuration import SchedulerProfile

__all__ = ["PLUGINS", "SchedulingPlugin"]


@dataclass(frozen=True, slots=True)
class SchedulingPlugin:
    """What runs under one plugin name. `plugin` takes part in every point but Score, `score` in that one."""

    plugin: Callable[[ShadowCluster, SchedulerProfile], Plugin] | None = None
    score: Callable[[ShadowCluster, SchedulerProfile], ScorePlugin] | None = None


PLUGINS: dict[str, SchedulingPlugin] = {
    "SchedulingGates": SchedulingPlugin(SchedulingGates),
    "NodeUnschedulable": SchedulingPlugin(NodeUnschedulable),
    "NodeName": SchedulingPlugin(NodeName),
    "TaintToleration": SchedulingPlugin(TaintToleration, TaintTolerationScore),
    "NodeAffinity": SchedulingPlugin(NodeAffinity, NodeAffinityScore),
    "NodePorts": SchedulingPlugin(NodePorts),
    "NodeResourcesFit": SchedulingPlugin(NodeResourcesFit, NodeResourcesFitScore),
    "VolumeRestrictions": SchedulingPlugin(VolumeRestrictions),
    "NodeVolumeLimits": SchedulingPlugin(NodeVolumeLimits),
    "VolumeBinding": SchedulingPlugin(VolumeBinding),
    "VolumeZone": SchedulingPlugin(VolumeZone),
    "PodTopologySpread": SchedulingPlugin(PodTopologySpread, PodTopologySpreadScore),
    "InterPodAffinity": SchedulingPlugin(InterPodAffinity, InterPodAffinityScore),
    "DynamicResources": SchedulingPlugin(DynamicResources),
    "NodeResourcesBalancedAllocation": SchedulingPlugin(score=NodeResourcesBalancedAllocation),
    "ImageLocality": SchedulingPlugin(score=ImageLocality),
    "NodeDeclaredFeatures": SchedulingPlugin(NodeDeclaredFeatures),
}
"""Every plugin that takes part in a placement. A profile says which run, in which order and with which weight."""

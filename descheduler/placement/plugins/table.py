"""The scheduling plugins of this program: one table, a row for each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from descheduler.placement.configuration.kube_scheduler.configuration import DEFAULT_CONFIGURATION
from descheduler.placement.configuration.kube_scheduler.default_plugins import IN_TREE
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import Plugin, ScorePlugin
from descheduler.placement.framework.interactions import Interactions
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin, own_node
from descheduler.placement.plugins.dynamic_resources import DynamicResources
from descheduler.placement.plugins.image_locality import ImageLocality
from descheduler.placement.plugins.inter_pod_affinity.filter import AffinityInteractions, InterPodAffinity
from descheduler.placement.plugins.inter_pod_affinity.score import InterPodAffinityScore
from descheduler.placement.plugins.node_affinity.filter import NodeAffinity
from descheduler.placement.plugins.node_affinity.score import NodeAffinityScore
from descheduler.placement.plugins.node_declared_features import NodeDeclaredFeatures
from descheduler.placement.plugins.node_name import NodeName
from descheduler.placement.plugins.node_ports import NodePorts
from descheduler.placement.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from descheduler.placement.plugins.node_resources_fit.filter import NodeResourcesFit
from descheduler.placement.plugins.node_resources_fit.score import NodeResourcesFitScore
from descheduler.placement.plugins.node_unschedulable import NodeUnschedulable
from descheduler.placement.plugins.node_volume_limits import NodeVolumeLimits
from descheduler.placement.plugins.pod_topology_spread.filter import PodTopologySpread, SpreadInteractions
from descheduler.placement.plugins.pod_topology_spread.score import PodTopologySpreadScore
from descheduler.placement.plugins.scheduling_gates import SchedulingGates
from descheduler.placement.plugins.taint_toleration.filter import TaintToleration
from descheduler.placement.plugins.taint_toleration.score import TaintTolerationScore
from descheduler.placement.plugins.volume_binding import ClaimInteractions, VolumeBinding
from descheduler.placement.plugins.volume_restrictions import VolumeRestrictions
from descheduler.placement.plugins.volume_zone import VolumeZone
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["PLUGINS", "default_scheduler", "known_points"]


def known_points(plugins: Mapping[str, SchedulingPlugin]) -> Mapping[str, frozenset[str]]:
    """The extension points of kube-scheduler's plugins and of those in the table `plugins`, to read profiles by."""
    return {**IN_TREE, **{name: row.points for name, row in plugins.items()}}


def _row(
    name: str,
    plugin: Callable[[ShadowCluster, SchedulerProfile], Plugin] | None = None,
    score: Callable[[ShadowCluster, SchedulerProfile], ScorePlugin] | None = None,
    interactions: Callable[[SchedulerProfile], Interactions] = own_node,
) -> tuple[str, SchedulingPlugin]:
    """The row of a plugin of kube-scheduler's own."""
    return name, SchedulingPlugin(plugin, score, points=IN_TREE[name], interactions=interactions)


PLUGINS: dict[str, SchedulingPlugin] = dict(
    (
        _row("SchedulingGates", SchedulingGates),
        _row("NodeUnschedulable", NodeUnschedulable),
        _row("NodeName", NodeName),
        _row("TaintToleration", TaintToleration, TaintTolerationScore),
        _row("NodeAffinity", NodeAffinity, NodeAffinityScore),
        _row("NodePorts", NodePorts),
        _row("NodeResourcesFit", NodeResourcesFit, NodeResourcesFitScore),
        _row("VolumeRestrictions", VolumeRestrictions, interactions=lambda _: ClaimInteractions()),
        _row("NodeVolumeLimits", NodeVolumeLimits),
        _row("VolumeBinding", VolumeBinding, interactions=lambda _: ClaimInteractions()),
        _row("VolumeZone", VolumeZone),
        _row("PodTopologySpread", PodTopologySpread, PodTopologySpreadScore, SpreadInteractions),
        _row("InterPodAffinity", InterPodAffinity, InterPodAffinityScore, lambda _: AffinityInteractions()),
        _row("DynamicResources", DynamicResources),
        _row("NodeResourcesBalancedAllocation", score=NodeResourcesBalancedAllocation),
        _row("ImageLocality", score=ImageLocality),
        _row("NodeDeclaredFeatures", NodeDeclaredFeatures),
    )
)
"""Every plugin that takes part in a placement. A profile says which run, in which order and with which weight."""


def default_scheduler(cluster: ShadowCluster) -> Scheduler:
    """kube-scheduler of the newest version known as it comes, over `cluster`."""
    return Scheduler(cluster, DEFAULT_CONFIGURATION.profiles[0], plugins=PLUGINS)

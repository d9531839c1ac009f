"""The scheduling plugins of this program: one table, a row for each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from descheduler.placement.filters.dynamic_resources import DynamicResources
from descheduler.placement.filters.inter_pod_affinity import AffinityInterplay, InterPodAffinity
from descheduler.placement.filters.node_affinity import NodeAffinity
from descheduler.placement.filters.node_declared_features import NodeDeclaredFeatures
from descheduler.placement.filters.node_name import NodeName
from descheduler.placement.filters.node_ports import NodePorts
from descheduler.placement.filters.node_resources_fit import NodeResourcesFit
from descheduler.placement.filters.node_unschedulable import NodeUnschedulable
from descheduler.placement.filters.node_volume_limits import NodeVolumeLimits
from descheduler.placement.filters.pod_topology_spread import PodTopologySpread, SpreadInterplay
from descheduler.placement.filters.scheduling_gates import SchedulingGates
from descheduler.placement.filters.taint_toleration import TaintToleration
from descheduler.placement.filters.volume_binding import ClaimInterplay, VolumeBinding
from descheduler.placement.filters.volume_restrictions import VolumeRestrictions
from descheduler.placement.filters.volume_zone import VolumeZone
from descheduler.placement.interplay import CAUTIOUS, OWN_NODE, Interplay
from descheduler.placement.scores.image_locality import ImageLocality
from descheduler.placement.scores.inter_pod_affinity import InterPodAffinityScore
from descheduler.placement.scores.node_affinity import NodeAffinityScore
from descheduler.placement.scores.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from descheduler.placement.scores.node_resources_fit import NodeResourcesFitScore
from descheduler.placement.scores.pod_topology_spread import PodTopologySpreadScore
from descheduler.placement.scores.taint_toleration import TaintTolerationScore
from descheduler.policy.scheduler_plugins import IN_TREE

if TYPE_CHECKING:
    from descheduler.placement.framework import Plugin, ScorePlugin
    from descheduler.placement.shadow_cluster import ShadowCluster
    from descheduler.policy.scheduler_configuration import SchedulerProfile

__all__ = ["PLUGINS", "SchedulingPlugin", "known_points", "own_node"]


@dataclass(frozen=True, slots=True)
class SchedulingPlugin:
    """What runs under one plugin name: its row of the table.

    `points` are the extension points that it implements, by the fields of `PluginsSection`: `multiPoint` of a profile
    enables it at these. `plugin` takes part in all of them but Score, `score` in that one. `interplay` says how pods
    that are placed bear on each other by this plugin, under a profile; see Interplay.
    """

    plugin: Callable[[ShadowCluster, SchedulerProfile], Plugin] | None = None
    score: Callable[[ShadowCluster, SchedulerProfile], ScorePlugin] | None = None
    _: KW_ONLY
    points: frozenset[str]
    interplay: Callable[[SchedulerProfile], Interplay] = lambda _: CAUTIOUS


def own_node(profile: SchedulerProfile) -> Interplay:
    """The interplay of plugins by which placed pods bear on their own node only."""
    del profile
    return OWN_NODE


def known_points(plugins: Mapping[str, SchedulingPlugin]) -> Mapping[str, frozenset[str]]:
    """The extension points of kube-scheduler's plugins and of those in the table `plugins`, to read profiles by."""
    return {**IN_TREE, **{name: row.points for name, row in plugins.items()}}


def _row(
    name: str,
    plugin: Callable[[ShadowCluster, SchedulerProfile], Plugin] | None = None,
    score: Callable[[ShadowCluster, SchedulerProfile], ScorePlugin] | None = None,
    interplay: Callable[[SchedulerProfile], Interplay] = own_node,
) -> tuple[str, SchedulingPlugin]:
    """The row of a plugin of kube-scheduler's own."""
    return name, SchedulingPlugin(plugin, score, points=IN_TREE[name], interplay=interplay)


PLUGINS: dict[str, SchedulingPlugin] = dict(
    (
        _row("SchedulingGates", SchedulingGates),
        _row("NodeUnschedulable", NodeUnschedulable),
        _row("NodeName", NodeName),
        _row("TaintToleration", TaintToleration, TaintTolerationScore),
        _row("NodeAffinity", NodeAffinity, NodeAffinityScore),
        _row("NodePorts", NodePorts),
        _row("NodeResourcesFit", NodeResourcesFit, NodeResourcesFitScore),
        _row("VolumeRestrictions", VolumeRestrictions, interplay=lambda _: ClaimInterplay()),
        _row("NodeVolumeLimits", NodeVolumeLimits),
        _row("VolumeBinding", VolumeBinding, interplay=lambda _: ClaimInterplay()),
        _row("VolumeZone", VolumeZone),
        _row("PodTopologySpread", PodTopologySpread, PodTopologySpreadScore, SpreadInterplay),
        _row("InterPodAffinity", InterPodAffinity, InterPodAffinityScore, lambda _: AffinityInterplay()),
        _row("DynamicResources", DynamicResources),
        _row("NodeResourcesBalancedAllocation", score=NodeResourcesBalancedAllocation),
        _row("ImageLocality", score=ImageLocality),
        _row("NodeDeclaredFeatures", NodeDeclaredFeatures),
    )
)
"""Every plugin that takes part in a placement. A profile says which run, in which order and with which weight."""

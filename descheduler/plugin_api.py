"""All that a plugin of another package imports. Where these names are defined may change with any release.

The row of a plugin of a profile is a `PluginSpec`, and its arguments derive from `Args`. A strategy is built with a
`StrategyHandle`, a filter with a `Handle`. The row of a scheduling plugin is a `SchedulingPlugin`; the plugin is built
with a `ShadowCluster`. docs/how-to/own-plugins.md has an example of each.
"""

from __future__ import annotations

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.handle import Handle
from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod, PodSpec
from descheduler.model.verdict import ACCEPTED, Verdict, refuse
from descheduler.model.verdict import Reason as RefusalReason
from descheduler.placement.framework.extension_points import PASS, SKIP, PreFilterResult, ReasonBits, Scores
from descheduler.placement.framework.matched_reservations import (
    MatchedReservations,
    matched_reservations,
    nominated_reservation,
)
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.shadow.follower import Follower
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import NO_NODE, Cycle, Ledger, Placed, ShadowCluster, Takings
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem, Needs, PluginSpec
from descheduler.policy.shared_args import Args
from descheduler.strategies.shared.rules import Match
from descheduler.strategies.shared.selection import Selection, evict_from_node

__all__ = [
    "ACCEPTED",
    "NO_NODE",
    "PASS",
    "SKIP",
    "About",
    "Args",
    "ArgsProblem",
    "ClusterView",
    "Code",
    "Cycle",
    "Follower",
    "Handle",
    "Ledger",
    "Match",
    "MatchedReservations",
    "Needs",
    "Node",
    "Obstacle",
    "ObstacleReason",
    "Placed",
    "PlacementClass",
    "PluginEvictor",
    "PluginFacts",
    "PluginSpec",
    "Pod",
    "PodSpec",
    "PreFilterResult",
    "ReasonBits",
    "RefusalReason",
    "SchedulingPlugin",
    "Scores",
    "Selection",
    "ShadowCluster",
    "StrategyHandle",
    "Takings",
    "Verdict",
    "evict_from_node",
    "matched_reservations",
    "nominated_reservation",
    "own_node",
    "refuse",
]

"""What the table of scheduling plugins says of each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import Plugin, ScorePlugin
from descheduler.placement.framework.interactions import CAUTIOUS, OWN_NODE, Interactions
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["SchedulingPlugin", "own_node"]


@dataclass(frozen=True, slots=True)
class SchedulingPlugin:
    """What runs under one plugin name: its row of the table.

    `points` are the extension points that it implements, by the fields of `PluginsSection`: `multiPoint` of a profile
    enables it at these. `plugin` takes part in all of them but Score, `score` in that one. `interactions` says how pods
    that are placed bear on each other by this plugin, under a profile; see Interactions.
    """

    plugin: Callable[[ShadowCluster, SchedulerProfile], Plugin] | None = None
    score: Callable[[ShadowCluster, SchedulerProfile], ScorePlugin] | None = None
    _: KW_ONLY
    points: frozenset[str]
    interactions: Callable[[SchedulerProfile], Interactions] = lambda _: CAUTIOUS


def own_node(profile: SchedulerProfile) -> Interactions:
    """The interactions of plugins by which placed pods bear on their own node only."""
    del profile
    return OWN_NODE

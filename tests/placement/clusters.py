"""Shadow clusters, and what one plugin answers about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from descheduler.model.kube_version import KubeVersion
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.plugin_args import PluginArgs
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import FilterPlugin, ScorePlugin
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from tests.builders import make_snapshot

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


def make_cluster(
    nodes: Iterable[Node], pods: Iterable[Pod] = (), *, version: KubeVersion | None = None, **others: Any
) -> ShadowCluster:
    """The shadow cluster of `make_snapshot`."""
    return ShadowCluster(make_snapshot(nodes, pods, **others), version=version)


def make_profile(*args: object) -> SchedulerProfile:
    """A scheduler profile; `args` are arguments of plugins."""
    return SchedulerProfile(scheduler_name="default-scheduler", args=PluginArgs.made_of(*args))


def obstacles(
    plugin: Callable[[ShadowCluster, SchedulerProfile], FilterPlugin],
    cluster: ShadowCluster,
    pod: Pod,
    profile: SchedulerProfile | None = None,
) -> dict[str, Obstacle]:
    """What the filter has against `pod`, by node; `*` when it refuses the pod everywhere."""
    asked = plugin(cluster, profile or make_profile())
    cycle = Cycle(cluster.placement_class(pod), cluster)
    result = asked.pre_filter(cycle)
    if result.obstacle is not None:
        return {"*": result.obstacle}
    bits = None if result.is_skipped else asked.filter(cycle)
    if bits is None:
        return {}
    names = [node.name for node in cluster.table.nodes]
    return {names[node]: asked.obstacle(cycle, node, int(bits[node])) for node in np.flatnonzero(bits).tolist()}


def passing(
    plugin: Callable[[ShadowCluster, SchedulerProfile], FilterPlugin], cluster: ShadowCluster, pod: Pod
) -> list[str]:
    """Names of the nodes that the filter leaves."""
    against = obstacles(plugin, cluster, pod)
    return [node.name for node in cluster.table.nodes if node.name not in against and "*" not in against]


def scores(
    plugin: Callable[[ShadowCluster, SchedulerProfile], ScorePlugin],
    cluster: ShadowCluster,
    pod: Pod,
    *,
    among: Sequence[str] | None = None,
    profile: SchedulerProfile | None = None,
) -> tuple[list[int] | None, list[int]] | None:
    """Raw and final scores of `among` (by default every node), in name order; None when the plugin has none."""
    asked = plugin(cluster, profile or make_profile())
    names = [node.name for node in cluster.table.nodes]
    feasible = np.array([among is None or name in among for name in names], dtype=bool)
    answer = asked.score(Cycle(cluster.placement_class(pod), cluster), feasible)
    if answer is None:
        return None
    return None if answer.raw is None else answer.raw()[feasible].tolist(), answer.final[feasible].tolist()

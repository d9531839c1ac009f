"""What a plugin tells about a node that it closes to a pod."""

from __future__ import annotations

from typing import TypeVar

import msgspec
import numpy as np

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import FilterPlugin
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from tests.placement.clusters import make_profile

ArgsType = TypeVar("ArgsType")


class _Scheduler(msgspec.Struct, frozen=True):
    """One that runs a single profile."""

    profile: SchedulerProfile

    def runs(self, plugin: str, point: str = "") -> bool:
        """It runs every plugin."""
        return True

    def args_of(self, in_use: type[ArgsType]) -> ArgsType:
        """As the profile has them."""
        return self.profile.args.of(in_use)


def told(
    row: SchedulingPlugin, cluster: ShadowCluster, pod: Pod, node: str = "a", profile: SchedulerProfile | None = None
) -> list[str]:
    """The sentences about `node`, to which the plugin of `row` does not let `pod`."""
    used = profile or make_profile()
    assert row.plugin is not None
    assert row.explain is not None
    plugin = row.plugin(cluster, used)
    assert isinstance(plugin, FilterPlugin)
    cycle, index = Cycle(cluster.placement_class(pod), cluster), cluster.table.index[node]
    refused = plugin.pre_filter(cycle).obstacle
    if refused is None:
        bits = plugin.filter(cycle)
        assert bits is not None, "every node is open to the pod"
        assert np.asarray(bits)[index], f"node {node} is open to the pod"
        refused = plugin.obstacle(cycle, index, int(bits[index]))
    return list(row.explain(RefusedNode(cycle, _Scheduler(used), index), refused))

"""NodeName (kube-scheduler 1.37): a pod that names a node fits nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from descheduler.placement.configuration.kube_scheduler.plugin_args import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, PreFilterResult, ReasonBits
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster


class NodeNameReason(ObstacleReason):
    """Why a node takes no pod that names a node."""

    OTHER_NODE = 1, "node(s) didn't match the requested node name", "didn't match the requested node name"


class NodeName:
    """Compares `spec.nodeName` of a pod that is not bound yet."""

    name = "NodeName"
    is_static = True

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._index = cluster.table.index
        self._narrows = profile.release(cluster.version).gate("narrows_to_named_node")

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Narrows the nodes to the one that the pod names; kube-scheduler before 1.37 passes every pod."""
        name = cycle.pod.pod.node_name
        if not self._narrows or not name:
            return PASS
        return PreFilterResult(nodes=self._named(name), names=frozenset((name,)))

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Every node but the named one; None when the pod names none."""
        name = cycle.pod.pod.node_name
        if not name:
            return None
        return np.where(self._named(name), 0, 1).astype(np.uint32)

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        return Obstacle.of(self.name, Code.UNRESOLVABLE, NodeNameReason.OTHER_NODE)

    def _named(self, name: str) -> BoolMask:
        mask = np.zeros(len(self._index), dtype=bool)
        if name in self._index:
            mask[self._index[name]] = True
        return mask


def explain_node_name(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """Which node the pod names."""
    yield f"spec.nodeName is {refused.pod.node_name}"


ROW = SchedulingPlugin(
    plugin=NodeName,
    points=frozenset({"pre_filter", "filter"}),
    by_default=ByDefault(),
    interactions=own_node,
    explain=explain_node_name,
    about=About(
        check="A pod with spec.nodeName runs on that node only.",
        reasons=tuple(reason.reason for reason in NodeNameReason),
    ),
)

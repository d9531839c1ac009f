"""NodeUnschedulable (kube-scheduler 1.37): cordoned nodes take only pods that tolerate the cordon's taint."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from descheduler.model.node import CORDON_TAINT
from descheduler.model.selection.taints import NO_SCHEDULE, Taint, tolerates_all
from descheduler.placement.configuration.kube_scheduler.plugin_args import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, PreFilterResult, ReasonBits
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.shadow.placement_class import honoured_tolerations
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

_CORDON = Taint(CORDON_TAINT, "", NO_SCHEDULE)


class CordonReason(ObstacleReason):
    """Why a cordoned node takes no pod."""

    CORDONED = 1, "node(s) were unschedulable", "unschedulable"


class NodeUnschedulable:
    """Rejects nodes whose `spec.unschedulable` is set, whatever their taints say."""

    name = "NodeUnschedulable"
    is_static = True

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._version = cluster.version
        self._cordoned: ReasonBits = np.array([node.unschedulable for node in cluster.table.nodes], dtype=np.uint32)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        return PASS

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """The cordoned nodes, unless the pod tolerates cordons."""
        tolerations = honoured_tolerations(cycle.pod.spec.tolerations, self._version)
        return None if tolerates_all(tolerations, (_CORDON,)) else self._cordoned

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        return Obstacle.of(self.name, Code.UNRESOLVABLE, CordonReason.CORDONED)


def explain_cordon(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """That the node is cordoned, or that the run is to cordon it."""
    if refused.node.cordoned_by_run:
        yield "the run cordons it (cordon: true)"
    else:
        yield f"is cordoned; kubectl uncordon {refused.node.name} makes it schedulable"


ROW = SchedulingPlugin(
    plugin=NodeUnschedulable,
    points=frozenset({"pre_filter", "filter"}),
    by_default=ByDefault(leads_without="narrows_to_named_node"),
    interactions=own_node,
    explain=explain_cordon,
    about=About(
        check="A cordoned node accepts only pods that tolerate node.kubernetes.io/unschedulable.",
        reasons=tuple(reason.reason for reason in CordonReason),
    ),
)

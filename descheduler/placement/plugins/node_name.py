"""NodeName (kube-scheduler 1.36): a pod that names a node fits nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from descheduler.placement.framework.extension_points import PASS, Code, Obstacle, PreFilterResult, ReasonBits
from descheduler.placement.shadow.shadow_cluster import Cycle

if TYPE_CHECKING:
    from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
    from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["NodeName"]


class NodeName:
    """Compares `spec.nodeName` of a pod that is not bound yet."""

    name = "NodeName"
    is_static = True

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._index = cluster.table.index

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Passes every pod."""
        return PASS

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Every node but the named one; None when the pod names none."""
        name = cycle.pod.pod.node_name
        if not name:
            return None
        against = np.ones(len(self._index), dtype=np.uint32)
        if name in self._index:
            against[self._index[name]] = 0
        return against

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """That the pod names another node."""
        return Obstacle(self.name, Code.UNRESOLVABLE, ("node(s) didn't match the requested node name",))

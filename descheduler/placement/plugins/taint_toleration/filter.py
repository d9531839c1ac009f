"""TaintToleration (kube-scheduler 1.36): every `NoSchedule` and `NoExecute` taint of a node has to be tolerated."""

from __future__ import annotations

import numpy as np

from descheduler.model.selection.taints import Toleration
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, PreFilterResult, ReasonBits
from descheduler.placement.framework.obstacle import Code, Obstacle, Reason
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.placement.shadow.tolerations import honoured_tolerations

__all__ = ["TaintReason", "TaintToleration"]


class TaintReason(Reason):
    """Why a tainted node takes no pod."""

    UNTOLERATED = 1, "node(s) had untolerated taint(s)", "untolerated taint"


class TaintToleration:
    """The filter; how long a toleration lasts plays no part in it."""

    name = "TaintToleration"
    is_static = True

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._masks = cluster.table.masks
        self._version = cluster.version
        self._against: dict[tuple[Toleration, ...], ReasonBits | None] = {}

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Passes every pod."""
        return PASS

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """The nodes with a taint that keeps the pod away."""
        tolerations = cycle.pod.spec.tolerations
        if tolerations not in self._against:
            tolerated = self._masks.tolerated(honoured_tolerations(tolerations, self._version))
            self._against[tolerations] = None if tolerated.all() else (~tolerated).astype(np.uint32)
        return self._against[tolerations]

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """That there are such taints; which ones the scheduler keeps to itself since 1.34."""
        return Obstacle.of(self.name, Code.UNRESOLVABLE, TaintReason.UNTOLERATED)

"""NodeDeclaredFeatures (kube-scheduler 1.36): a pod that uses a young feature needs a node that declares it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from descheduler.placement.framework.extension_points import PASS, SKIP, Code, Obstacle, PreFilterResult, ReasonBits
from descheduler.placement.shadow.shadow_cluster import Cycle

if TYPE_CHECKING:
    from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
    from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["NodeDeclaredFeatures"]

_REASON = "node(s) didn't match Pod's required features"


class NodeDeclaredFeatures:
    """Compares what the pod's spec implies with `status.declaredFeatures` of each node."""

    name = "NodeDeclaredFeatures"
    is_static = True

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._nodes = cluster.table.nodes

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Leaves out pods that need no such feature, which is nearly every pod."""
        return PASS if cycle.pod.spec.required_features else SKIP

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """The nodes that do not declare all of them."""
        required = cycle.pod.spec.required_features
        lacking = [not required <= node.declared_features for node in self._nodes]
        return np.array(lacking, dtype=np.uint32) if any(lacking) else None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The only reason there is."""
        del cycle, node, bits
        return Obstacle(self.name, Code.UNRESOLVABLE, (_REASON,))

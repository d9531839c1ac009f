"""Filter NodeVolumeLimits: storage drivers attach so many volumes to a node and no more.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits` (1.36).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from descheduler.placement.framework import SKIP, Code, Cycle, Obstacle, PreFilterResult, ReasonBits
from descheduler.placement.shadow_cluster import ShadowCluster
from descheduler.placement.volumes.attachable import AttachableVolumes, may_have_attachable
from descheduler.placement.volumes.attached_volumes import AttachedVolumes
from descheduler.placement.volumes.pod_claims import PodClaims

if TYPE_CHECKING:
    from descheduler.policy.scheduler_profile import SchedulerProfile

__all__ = ["NodeVolumeLimits"]

_TOO_MANY_VOLUMES = 1
_REASON = "node(s) exceed max volume count"
_PASS = PreFilterResult()


class NodeVolumeLimits:
    """Counts volumes by driver. A VolumeAttachment may outlive its pod, so a node can be full without a user."""

    name = "NodeVolumeLimits"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        del profile  # nothing can be configured
        self._volumes = AttachableVolumes(cluster.snapshot)
        self._claims = PodClaims(cluster)
        self._attached = cluster.follow(AttachedVolumes)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Leaves pods alone that have nothing to attach."""
        return _PASS if self._attached.has_limits and may_have_attachable(cycle.pod.pod) else SKIP

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Nodes that would have more volumes of some driver than it attaches."""
        pod = cycle.pod.pod
        exceeded = self._attached.exceeded(self._volumes.of(pod, self._claims.of(pod)))
        return None if exceeded is None else np.where(exceeded, _TOO_MANY_VOLUMES, 0).astype(np.uint32)

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The only reason there is."""
        del cycle, node, bits
        return Obstacle(self.name, Code.UNSCHEDULABLE, (_REASON,))

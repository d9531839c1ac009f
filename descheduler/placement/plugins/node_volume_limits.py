"""Filter NodeVolumeLimits: storage drivers attach so many volumes to a node and no more.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.plugin_settings import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP_FOR_GOOD, PreFilterResult, ReasonBits
from descheduler.placement.framework.interactions import ClosingNodes
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.plugins.volumes.attachable import AttachableVolumes, may_have_attachable
from descheduler.placement.plugins.volumes.attached_volumes import AttachedVolumes
from descheduler.placement.plugins.volumes.pod_claims import CLAIM_KINDS, PodClaims, not_found
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

__all__ = ["NodeVolumeLimits"]

_TOO_MANY_VOLUMES, _NO_CLAIM = 1, 2


class LimitReason(ObstacleReason):
    """Why no more volumes are attached to a node."""

    EXCEEDED = 1, "node(s) exceed max volume count", "too many volumes"


class NodeVolumeLimits:
    """Counts volumes by driver. A VolumeAttachment may outlive its pod, so a node can be full without a user."""

    name = "NodeVolumeLimits"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        # Where VolumeBinding runs, no pod without its claims gets as far as this.
        self._asks_for_claims = "VolumeBinding" not in profile.pre_filters
        self._snapshot = cluster.snapshot
        self._volumes = AttachableVolumes(cluster.snapshot)
        self._claims = PodClaims(cluster)
        self._attached = cluster.follow(AttachedVolumes)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Leaves pods alone that have nothing to attach."""
        is_asked = self._attached.has_limits or self._asks_for_claims
        return PASS if is_asked and may_have_attachable(cycle.pod.pod) else SKIP_FOR_GOOD

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Nodes that would have more volumes of some driver than it attaches."""
        pod = cycle.pod.pod
        if self._asks_for_claims and self._missing(pod):
            return np.full(len(cycle.cluster.table), _NO_CLAIM, dtype=np.uint32)
        exceeded = self._attached.exceeded(self._volumes.of(pod, self._claims.of(pod)))
        return None if exceeded is None else np.where(exceeded, _TOO_MANY_VOLUMES, 0).astype(np.uint32)

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The claim that does not exist, or that the driver has no room."""
        del node
        if bits == _TOO_MANY_VOLUMES:
            return Obstacle.of(self.name, Code.UNSCHEDULABLE, LimitReason.EXCEEDED)
        pod = cycle.pod.pod
        name = self._missing(pod)
        found = not_found(self._snapshot, self.name, "PersistentVolumeClaim", name)
        reasons = tuple(f"looking up PVC {pod.namespace}/{name}: {reason}" for reason in found.reasons)
        return Obstacle(self.name, found.code, reasons)

    def _missing(self, pod: Pod) -> str:
        """The first claim of the pod that does not exist; empty when all do."""
        return next((entry.name for entry in self._claims.of(pod) if entry.claim is None), "")


def explain_volume_limits(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """The drivers that cannot attach more volumes to the node."""
    del obstacle
    cluster = refused.cycle.cluster
    volumes = AttachableVolumes(refused.snapshot).of(refused.pod, PodClaims(cluster).of(refused.pod))
    for driver, held, new, limit in cluster.follow(AttachedVolumes).overflow(volumes, refused.node_index):
        yield f"driver {driver} attaches at most {limit} volumes: {held} attached, {new} more requested"


ROW = SchedulingPlugin(
    plugin=NodeVolumeLimits,
    points=frozenset({"pre_filter", "filter"}),
    by_default=ByDefault(),
    interactions=lambda _: ClosingNodes(may_have_attachable),
    explain=explain_volume_limits,
    reads_kinds=CLAIM_KINDS | {"CSINode.storage.k8s.io", "CSIDriver.storage.k8s.io", "VolumeAttachment.storage.k8s.io"},
    about=About(
        check="A storage driver attaches a limited number of volumes to a node (CSINode).",
        reasons=tuple(reason.reason for reason in LimitReason),
    ),
)

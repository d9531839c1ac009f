"""Filter NodeVolumeLimits: storage drivers attach so many volumes to a node and no more.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits` (1.37).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.plugin_args import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP_FOR_GOOD, PreFilterResult, ReasonBits
from descheduler.placement.framework.interactions import ClosingNodes
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.plugins.volumes.attached_volumes import (
    AttachableVolume,
    AttachableVolumes,
    AttachedVolumes,
    may_have_attachable,
)
from descheduler.placement.plugins.volumes.pod_claims import CLAIM_KINDS, PodClaims, not_found
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

_TOO_MANY_VOLUMES, _NO_CLAIM, _NO_DRIVER = 1, 2, 4


class LimitReason(ObstacleReason):
    """Why no more volumes are attached to a node."""

    EXCEEDED = 1, "node(s) exceed max volume count", "too many volumes"


class MissingDriver(NamedTuple):
    """A node lacks a CSI driver that the pod's volumes need."""

    driver: str

    @property
    def reason(self) -> str:
        return f"{self.driver} CSI driver is not installed on the node"

    @property
    def short(self) -> str:
        return f"CSI driver {self.driver} not installed"


class _RequiredDrivers:
    """The nodes that lack a driver whose CSIDriver sets `preventPodSchedulingIfMissing`."""

    def __init__(self, cluster: ShadowCluster) -> None:
        snapshot, nodes = cluster.snapshot, cluster.table.nodes
        installed = [csi_node.limits if (csi_node := snapshot.csi_nodes.get(node.name)) else {} for node in nodes]
        required = [name for name, driver in snapshot.csi_drivers.items() if driver.is_required]
        self._lacking = {name: np.array([name not in each for each in installed], dtype=bool) for name in required}
        self._attached = cluster.follow(AttachedVolumes)

    def __bool__(self) -> bool:
        """Whether there is such a driver."""
        return bool(self._lacking)

    def lacking(self, volumes: Iterable[AttachableVolume]) -> Iterator[tuple[str, BoolMask]]:
        """Each driver that `volumes` need, and the nodes that lack it."""
        for volume in volumes:
            nodes = self._lacking.get(volume.driver)
            if nodes is not None:
                yield volume.driver, nodes & self._attached.counts(volume.plugin) if volume.plugin else nodes


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
        has_required = profile.release(cluster.version).gate("VolumeLimitScaling")
        self._required = _RequiredDrivers(cluster) if has_required else None

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Leaves pods alone that have nothing to attach."""
        is_asked = self._attached.has_limits or self._asks_for_claims or self._required
        return PASS if is_asked and may_have_attachable(cycle.pod.pod) else SKIP_FOR_GOOD

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Nodes that would have more volumes of some driver than it attaches."""
        pod = cycle.pod.pod
        if self._asks_for_claims and self._missing(pod):
            return np.full(len(cycle.cluster.table), _NO_CLAIM, dtype=np.uint32)
        volumes = tuple(self._volumes.of(pod, self._claims.of(pod)))
        against: ReasonBits = np.zeros(len(cycle.cluster.table), dtype=np.uint32)
        exceeded = self._attached.exceeded(volumes)
        if exceeded is not None:
            against[exceeded] = _TOO_MANY_VOLUMES
        for _, nodes in self._lacking(volumes):
            against[nodes] = _NO_DRIVER
        return against if against.any() else None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The claim or the driver that does not exist, or that the driver has no room."""
        pod = cycle.pod.pod
        if bits == _TOO_MANY_VOLUMES:
            return Obstacle.of(self.name, Code.UNSCHEDULABLE, LimitReason.EXCEEDED)
        if bits == _NO_DRIVER:
            lacking = self._lacking(self._volumes.of(pod, self._claims.of(pod)))
            driver = next(driver for driver, nodes in lacking if nodes[node])
            return Obstacle.of(self.name, Code.UNSCHEDULABLE, MissingDriver(driver))
        name = self._missing(pod)
        found = not_found(self._snapshot, self.name, "PersistentVolumeClaim", name)
        reasons = tuple(f"looking up PVC {pod.namespace}/{name}: {reason}" for reason in found.reasons)
        return Obstacle(self.name, found.code, reasons)

    def _lacking(self, volumes: Iterable[AttachableVolume]) -> Iterator[tuple[str, BoolMask]]:
        return self._required.lacking(volumes) if self._required else iter(())

    def _missing(self, pod: Pod) -> str:
        """The first claim of the pod that does not exist; empty when all do."""
        return next((entry.name for entry in self._claims.of(pod) if entry.claim is None), "")


def explain_volume_limits(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """The drivers that the node lacks, or that cannot attach more volumes to it."""
    missing = [fact.driver for fact in obstacle.facts if isinstance(fact, MissingDriver)]
    if missing:
        yield f"CSI driver {missing[0]} is not installed (CSIDriver spec.preventPodSchedulingIfMissing: true)"
        return
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
        check=(
            "A storage driver attaches a limited number of volumes to a node (CSINode); from Kubernetes 1.37 on, a"
            " driver whose CSIDriver sets preventPodSchedulingIfMissing must be installed on the node."
        ),
        reasons=(*(reason.reason for reason in LimitReason), MissingDriver("<driver>").reason),
    ),
)

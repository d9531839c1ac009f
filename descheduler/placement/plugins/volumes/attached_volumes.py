"""How many volumes each driver has attached to each node, and how many more it can attach.

Mirrors `filterAttachableVolumes` of `k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import InlineDisk, Pod, PodSpec
from descheduler.model.volume_sources import MIGRATED_DRIVERS, PersistentVolumeClaim, ebs_handle, gce_handle
from descheduler.placement.plugins.volumes.pod_claims import PodClaim, PodClaims
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster

_INLINE_PLUGINS = {
    "awsElasticBlockStore": "kubernetes.io/aws-ebs",
    "gcePersistentDisk": "kubernetes.io/gce-pd",
    "azureDisk": "kubernetes.io/azure-disk",
    "cinder": "kubernetes.io/cinder",
    "portworxVolume": "kubernetes.io/portworx-volume",
}


class AttachableVolume(NamedTuple):
    """One volume as its driver counts it.

    `handle` is None for a volume that is yet to be made for one pod alone, which is like no other. A volume of an
    in-tree `plugin` may not be left to the driver on every node.
    """

    driver: str
    handle: str | None
    plugin: str = ""


def may_have_attachable(pod: Pod) -> bool:
    """Whether `pod` has any volume of a kind that can have to be attached."""
    return bool(pod.claim_names or pod.ephemeral_volumes or pod.spec.inline_disks)


class AttachableVolumes:
    """Looks up the volumes behind claims and disks of one snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._volumes = snapshot.volumes
        self._classes = snapshot.storage_classes

    def of(self, pod: Pod, claims: tuple[PodClaim, ...]) -> Iterator[AttachableVolume]:
        """The volumes of `pod`, whose claims are `claims`, that have a driver. One may occur twice."""
        for _, claim, _, is_new, is_foreign in claims:
            if claim is not None and not is_foreign:
                volume = self._of_claim(claim, is_new=is_new)
                if volume is not None:
                    yield volume
        for disk in pod.spec.inline_disks:
            plugin = _INLINE_PLUGINS.get(disk.kind)
            if plugin is not None:
                yield AttachableVolume(MIGRATED_DRIVERS[plugin], _inline_handle(disk), plugin)

    def _of_claim(self, claim: PersistentVolumeClaim, *, is_new: bool) -> AttachableVolume | None:
        volume = self._volumes.get(claim.volume_name) if claim.volume_name else None
        if volume is not None:
            if not volume.csi_driver or not volume.csi_handle:
                return None
            return AttachableVolume(volume.csi_driver, volume.csi_handle, volume.in_tree_plugin)
        storage_class = self._classes.get(claim.storage_class)
        if storage_class is None:
            return None
        plugin = storage_class.provisioner if storage_class.provisioner in MIGRATED_DRIVERS else ""
        # A handle that no volume has stands for the one that the claim will get.
        handle = None if is_new else f"\0{claim.namespace}/{claim.name}"
        return AttachableVolume(storage_class.csi_driver, handle, plugin)


def _inline_handle(disk: InlineDisk) -> str:
    """The handle under which the driver knows a disk."""
    identity = disk.identity[0]
    match disk.kind:
        case "gcePersistentDisk":
            return gce_handle(identity)
        case "awsElasticBlockStore":
            return ebs_handle(identity)
        case _:
            return identity


_PORTWORX = "kubernetes.io/portworx-volume"
_UNLIMITED = np.iinfo(np.int64).max


class AttachedVolumes:
    """A follower that counts distinct volumes a node, for the drivers that limit them on some node.

    The limits are those of the nodes' CSINodes; a node without one, or without a count, has none.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        self._snapshot = cluster.snapshot
        self._claims = PodClaims(cluster)
        self._volumes = AttachableVolumes(cluster.snapshot)
        self._index = cluster.table.index
        self._asks_nodes = not cluster.version.gate("counts_portworx_volumes_everywhere")
        self._limits = self._read_limits()
        shape = len(cluster.table)
        self._counts = {driver: np.zeros(shape, dtype=np.int64) for driver in self._limits}
        # Driver → handle → nodes of the placed pods that use the volume, one entry a use.
        self._uses: dict[str, dict[str, tuple[int, ...]]] = {driver: {} for driver in self._limits}
        self._migrated: dict[str, BoolMask] = {}
        self._attachments = frozenset(self._read_attachments())
        for driver, _, node in self._attachments:
            self._counts[driver][node] += 1

    @property
    def has_limits(self) -> bool:
        """Whether any driver limits its volumes anywhere."""
        return bool(self._limits)

    def concerns(self, spec: PodSpec) -> bool:
        """Those that name disks, beside those with claims."""
        return bool(spec.inline_disks)

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Counts the volumes that are new to the node."""
        del is_terminating  # a pod that is being deleted still has its volumes
        if node == NO_NODE or not self._limits or not may_have_attachable(pod):
            return
        for driver, handle in self._counted(pod, node):
            if handle is None:
                self._counts[driver][node] += 1
                continue
            users = self._uses[driver].get(handle, ())
            if node not in users and (driver, handle, node) not in self._attachments:
                self._counts[driver][node] += 1
            self._uses[driver][handle] = (*users, node)

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Takes back what no other pod uses there and no VolumeAttachment holds."""
        if node == NO_NODE or not self._limits or not may_have_attachable(pod):
            return
        for driver, handle in self._counted(pod, node):
            if handle is None:
                self._counts[driver][node] -= 1
                continue
            users = list(self._uses[driver][handle])
            users.remove(node)
            if users:
                self._uses[driver][handle] = tuple(users)
            else:
                del self._uses[driver][handle]
            if node not in users and (driver, handle, node) not in self._attachments:
                self._counts[driver][node] -= 1

    def fingerprint(self) -> object:
        uses = {
            driver: sorted((handle, sorted(nodes)) for handle, nodes in by_handle.items())
            for driver, by_handle in sorted(self._uses.items())
        }
        return uses, [(driver, counts.tobytes()) for driver, counts in sorted(self._counts.items())]

    def exceeded(self, volumes: Iterable[AttachableVolume]) -> BoolMask | None:
        """Nodes that cannot attach all of `volumes` in addition; None when all can.

        A volume that a pod there uses is not counted again. One that only a VolumeAttachment names is: kube-scheduler
        (1.36) counts it both as attached and as new.
        """
        exceeded: BoolMask | None = None
        for driver, news in self._new_by_driver(volumes).items():
            over = (news > 0) & (self._counts[driver] + news > self._limits[driver])
            if over.any():
                exceeded = over if exceeded is None else exceeded | over
        return exceeded

    def overflow(self, volumes: Iterable[AttachableVolume], node: int) -> Iterator[tuple[str, int, int, int]]:
        """Each driver that cannot attach all of `volumes` to `node`: name, volumes attached, new ones, limit."""
        for driver, news in self._new_by_driver(volumes).items():
            held, new, limit = (int(column[node]) for column in (self._counts[driver], news, self._limits[driver]))
            if new and held + new > limit:
                yield driver, held, new, limit

    def _new_by_driver(self, volumes: Iterable[AttachableVolume]) -> dict[str, NDArray[np.int64]]:
        """How many volumes of each driver would be new to each node."""
        by_driver: dict[str, NDArray[np.int64]] = {}
        seen: set[AttachableVolume] = set()
        for volume in volumes:
            if volume.driver not in self._limits or volume in seen:
                continue
            news = by_driver.setdefault(volume.driver, np.zeros_like(self._counts[volume.driver]))
            # Nodes that leave an in-tree volume to its plugin do not count it.
            counted = self.counts(volume.plugin).astype(np.int64) if volume.plugin else np.ones_like(news)
            if volume.handle is not None:
                seen.add(volume)
                counted[list(self._uses[volume.driver].get(volume.handle, ()))] = 0
            news += counted
        return by_driver

    def _counted(self, pod: Pod, node: int) -> Iterator[tuple[str, str | None]]:
        """Driver and handle of the pod's volumes that count on `node`."""
        for driver, handle, plugin in self._volumes.of(pod, self._claims.of_placed(pod)):
            if driver in self._limits and (not plugin or self.counts(plugin)[node]):
                yield driver, handle

    def counts(self, plugin: str) -> BoolMask:
        """Nodes that count the volumes of an in-tree plugin for its driver."""
        known = self._migrated.get(plugin)
        if known is None:
            asks_nodes = plugin == _PORTWORX and self._asks_nodes
            known = self._migrated[plugin] = np.full(len(self._index), not asks_nodes)
            for name, csi_node in self._snapshot.csi_nodes.items():
                if plugin in csi_node.migrated_plugins and name in self._index:
                    known[self._index[name]] = True
        return known

    def _read_limits(self) -> dict[str, NDArray[np.int64]]:
        limits: dict[str, NDArray[np.int64]] = {}
        for name, csi_node in self._snapshot.csi_nodes.items():
            node = self._index.get(name)
            if node is None:
                continue
            for driver, limit in csi_node.limits.items():
                if limit is not None:
                    by_node = limits.setdefault(driver, np.full(len(self._index), _UNLIMITED))
                    by_node[node] = limit
        return limits

    def _read_attachments(self) -> Iterator[tuple[str, str, int]]:
        """Driver, handle and node of the VolumeAttachments that the scheduler counts: of CSI volumes proper."""
        for attachment in self._snapshot.attachments:
            node = self._index.get(attachment.node_name)
            volume = self._snapshot.volumes.get(attachment.volume_name)
            if node is None or volume is None or not volume.csi_driver or volume.in_tree_plugin:
                continue
            if attachment.attacher in self._limits:
                yield attachment.attacher, volume.csi_handle, node

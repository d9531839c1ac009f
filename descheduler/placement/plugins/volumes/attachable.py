"""Which volumes a storage driver has to attach to the node of a pod, and so counts.

Mirrors `filterAttachableVolumes` of `k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import InlineDisk, Pod
from descheduler.model.volume_sources import MIGRATED_DRIVERS, PersistentVolumeClaim, ebs_handle, gce_handle
from descheduler.placement.plugins.volumes.pod_claims import PodClaim

__all__ = ["AttachableVolume", "AttachableVolumes", "may_have_attachable"]

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

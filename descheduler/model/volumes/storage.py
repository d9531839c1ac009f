"""Volumes, what claims them, and what says where they can be reached: claims, volumes, classes and CSI objects."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.labels import EVERYTHING, NOTHING, LabelSelector, Requirement

__all__ = [
    "BLOCK",
    "FILESYSTEM",
    "MIGRATED_DRIVERS",
    "READ_WRITE_ONCE",
    "READ_WRITE_ONCE_POD",
    "WAIT_FOR_FIRST_CONSUMER",
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "ClaimReference",
    "ClaimTemplate",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "StorageClass",
    "VolumeAttachment",
]

FILESYSTEM = "Filesystem"
BLOCK = "Block"
READ_WRITE_ONCE = "ReadWriteOnce"
READ_WRITE_ONCE_POD = "ReadWriteOncePod"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"

MIGRATED_DRIVERS: Mapping[str, str] = {
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
}
"""Provisioner of volumes that Kubernetes once served itself → the CSI driver that serves them, and counts them, now
(`k8s.io/csi-translation-lib` 0.36, those that the scheduler counts)."""


class ClaimTemplate(msgspec.Struct, frozen=True):
    """A claim that will be made for a pod, of an ephemeral volume or a StatefulSet.

    `name` is that of the volume, empty where a pod volume names it. `storage_class` is None where the cluster's
    default class will be filled in, and empty where the claim wants none. `request_bytes` is rounded up.
    """

    name: str = ""
    storage_class: str | None = None
    access_modes: frozenset[str] = frozenset()
    request_bytes: int = 0
    volume_mode: str = FILESYSTEM
    attributes_class: str = ""
    selector: LabelSelector = EVERYTHING
    volume_name: str = ""
    labels: Mapping[str, str] = {}


class PersistentVolumeClaim(msgspec.Struct, frozen=True):
    """A claim; `storage_class` is empty when none is named.

    `is_bound` means bound for good: a volume is named and the binding is marked as completed. `selected_node` is where
    the scheduler wants the volume made. A claim without selector takes volumes of any labels. `owner_uid` is that of
    the controlling owner, the pod of an ephemeral volume; empty without one.
    """

    namespace: str
    name: str
    storage_class: str
    uid: str = ""
    volume_name: str = ""
    is_bound: bool = False
    selected_node: str = ""
    access_modes: frozenset[str] = frozenset()
    request_bytes: int = 0
    volume_mode: str = FILESYSTEM
    attributes_class: str = ""
    selector: LabelSelector = EVERYTHING
    phase: str = ""
    is_deleting: bool = False
    owner_uid: str = ""


class ClaimReference(msgspec.Struct, frozen=True):
    """The claim that a volume is bound to, or kept for; `uid` is empty while only the name is given."""

    namespace: str
    name: str
    uid: str = ""


class PersistentVolume(msgspec.Struct, frozen=True):
    """A volume. `node_affinity` is None when it can be reached from every node.

    `csi_driver` and `csi_handle` are those of the CSI driver that serves the volume, also for kinds of volumes that
    were once served without one; empty for volumes of no driver. `in_tree_plugin` names what served those, empty for
    others. `capacity_bytes` is rounded up.
    """

    name: str
    labels: Mapping[str, str] = {}
    node_affinity: tuple[NodeSelectorTerm, ...] | None = None
    capacity_bytes: int = 0
    access_modes: frozenset[str] = frozenset()
    storage_class: str = ""
    volume_mode: str = FILESYSTEM
    attributes_class: str = ""
    phase: str = ""
    is_deleting: bool = False
    claim_ref: ClaimReference | None = None
    csi_driver: str = ""
    csi_handle: str = ""
    in_tree_plugin: str = ""


class StorageClass(msgspec.Struct, frozen=True):
    """A class of volumes. `allowed_topologies` are alternatives, each a conjunction; none allow every node."""

    name: str
    provisioner: str = ""
    binding_mode: str = "Immediate"
    allowed_topologies: tuple[tuple[Requirement, ...], ...] = ()
    is_default: bool = False
    created_at: datetime | None = None

    @property
    def waits_for_consumer(self) -> bool:
        """Whether a volume is chosen only once a pod that uses the claim is placed."""
        return self.binding_mode == WAIT_FOR_FIRST_CONSUMER

    @property
    def csi_driver(self) -> str:
        """The driver under which volumes of this class are counted."""
        return MIGRATED_DRIVERS.get(self.provisioner, self.provisioner)


class CSINode(msgspec.Struct, frozen=True):
    """The storage drivers of one node: driver → how many volumes it attaches at most, None for no limit.

    `migrated_plugins` are those of `MIGRATED_DRIVERS` whose volumes the node leaves to the driver.
    """

    name: str
    limits: Mapping[str, int | None] = {}
    migrated_plugins: frozenset[str] = frozenset()


class CSIDriver(msgspec.Struct, frozen=True):
    """A storage driver, and whether the scheduler has to look at the capacity that it publishes."""

    name: str
    tracks_capacity: bool = False


class CSIStorageCapacity(msgspec.Struct, frozen=True):
    """What a driver has left for volumes of one class on the nodes that `node_topology` selects, in bytes.

    A capacity without topology is for no node. `capacity` and `maximum_volume_size` are None where unknown.
    """

    namespace: str
    name: str
    storage_class: str
    node_topology: LabelSelector = NOTHING
    capacity: int | None = None
    maximum_volume_size: int | None = None


class VolumeAttachment(msgspec.Struct, frozen=True):
    """A volume that is attached to a node, or will be. `volume_name` is empty for a volume that a pod states itself,
    of which `inline_driver` and `inline_handle` are known instead.
    """

    name: str
    attacher: str
    node_name: str
    volume_name: str = ""
    inline_driver: str = ""
    inline_handle: str = ""

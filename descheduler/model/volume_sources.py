"""Volumes, what claims them, and what says where they can be reached: claims, volumes, classes and CSI objects.

How a CSI driver names a volume that Kubernetes once served itself mirrors `k8s.io/csi-translation-lib` 0.36; the
drivers are `MIGRATED_DRIVERS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.labels import EVERYTHING, NOTHING, LabelSelector, Requirement

_ZONE, _REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
_OLD_ZONE, _OLD_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
_SEPARATOR = "__"
_UNSPECIFIED = "UNSPECIFIED"
_EBS_SCHEME = "aws://"
_ZONE_KEYS = {
    "kubernetes.io/aws-ebs": "topology.ebs.csi.aws.com/zone",
    "kubernetes.io/gce-pd": "topology.gke.io/zone",
    "kubernetes.io/cinder": "topology.cinder.csi.openstack.org/zone",
}
"""Plugin → the node label under which its driver has the zone; others keep a volume's node affinity as it is."""
FILESYSTEM = "Filesystem"
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
    """A storage driver, and whether the scheduler has to look at the capacity that it publishes.

    With `is_required` a node without the driver takes no pod that has a volume of it.
    """

    name: str
    tracks_capacity: bool = False
    is_required: bool = False


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


def ebs_handle(volume_id: str) -> str:
    """The driver's handle of an EBS volume, whose id may be written `aws://zone/vol-1`; empty for no valid id."""
    if not volume_id.startswith(_EBS_SCHEME):
        return volume_id
    handle = volume_id.removeprefix(_EBS_SCHEME).partition("/")[2].strip("/")
    return handle if handle.startswith("vol-") and "/" not in handle else ""


def gce_handle(disk: str, zones: str = "") -> str:
    """The driver's handle of a persistent disk; `zones` is its zone label, which names several for a regional disk.

    Empty where the zones are not of one region, written `locale-region-zone`.
    """
    names = zones.split(_SEPARATOR)
    if len(names) == 1:
        return f"projects/{_UNSPECIFIED}/zones/{zones or _UNSPECIFIED}/disks/{disk}"
    regions = {name.rpartition("-")[0] if name.count("-") == 2 else "" for name in names}
    region = regions.pop()
    return f"projects/{_UNSPECIFIED}/regions/{region}/disks/{disk}" if region and not regions else ""


def zones_of(labels: Mapping[str, str]) -> str:
    """The zone label of a disk of Google's, the older spelling first; empty without one."""
    return labels.get(_OLD_ZONE) or labels.get(_ZONE) or ""


def migrated_affinity(
    plugin: str, affinity: tuple[NodeSelectorTerm, ...] | None, labels: Mapping[str, str]
) -> tuple[NodeSelectorTerm, ...] | None:
    """The node affinity of a volume of `plugin` on nodes that have left the plugin to its driver.

    The zone is asked for by the driver's own label. A volume that asks for no zone gets those of its `labels`.
    """
    driver_key = _ZONE_KEYS.get(plugin)
    if driver_key is None:
        return affinity
    terms = affinity or ()
    zone_key = _zone_key(terms, labels)
    renamed: dict[str, str] = {}
    if _values(terms, zone_key):
        renamed[zone_key] = driver_key
    elif zones := {zone.strip() for zone in labels.get(zone_key, "").split(_SEPARATOR)} - {""}:
        in_zones = Requirement(driver_key, "In", frozenset(zones))
        terms = tuple(_with(term, (*term.expressions, in_zones)) for term in terms or (NodeSelectorTerm(),))
    if zone_key == _OLD_ZONE and _values(terms, _OLD_REGION):
        renamed[_OLD_REGION] = _REGION
    if renamed:
        terms = tuple(_with(term, (_rename(each, renamed) for each in term.expressions)) for term in terms)
    return terms if terms else affinity


def _zone_key(terms: Iterable[NodeSelectorTerm], labels: Mapping[str, str]) -> str:
    """The spelling of the zone that a volume uses, in its affinity before its labels."""
    asked = {requirement.key for term in terms for requirement in term.expressions}
    used = next((keys for keys in (asked, labels.keys()) if keys & {_ZONE, _OLD_ZONE}), {_ZONE})
    return _ZONE if _ZONE in used else _OLD_ZONE


def _values(terms: Iterable[NodeSelectorTerm], key: str) -> bool:
    """Whether any condition on `key` names values."""
    return any(requirement.values for term in terms for requirement in term.expressions if requirement.key == key)


def _rename(requirement: Requirement, renamed: Mapping[str, str]) -> Requirement:
    key = renamed.get(requirement.key)
    return requirement if key is None else Requirement(key, requirement.operator, requirement.values)


def _with(term: NodeSelectorTerm, expressions: Iterable[Requirement]) -> NodeSelectorTerm:
    return NodeSelectorTerm(tuple(expressions), term.fields, term.error)

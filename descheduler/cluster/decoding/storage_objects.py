"""Claims, volumes, classes and CSI objects from the bytes of the API to model values."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from descheduler.cluster.decoding.affinity_blocks import decode_node_affinity, decode_nullable_selector
from descheduler.cluster.decoding.blocks import (
    decode_labels,
    decode_owners,
    decode_quantities,
    decode_quantity,
    decode_text,
)
from descheduler.cluster.decoding.volume_blocks import ClaimSpecWire, DiskWire, is_managed_disk, requested_bytes
from descheduler.cluster.decoding.wire import ABSENT, Int32, MetadataWire, ObjectReader, SpecReader, Wire, set_time
from descheduler.model.annotations import (
    BETA_CLASS_ANNOTATION,
    BOUND_ANNOTATION,
    DEFAULT_CLASS_ANNOTATIONS,
    MIGRATED_PLUGINS_ANNOTATION,
    SELECTED_NODE_ANNOTATION,
)
from descheduler.model.quantity import ceil_value
from descheduler.model.selection.labels import EVERYTHING, NOTHING, Requirement
from descheduler.model.volume_sources import (
    FILESYSTEM,
    MIGRATED_DRIVERS,
    ClaimReference,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
    ebs_handle,
    gce_handle,
    zones_of,
)


class _PhaseWire(Wire):
    phase: str | None = None


class _NodeAffinityWire(Wire):
    required: msgspec.Raw = ABSENT


class _CsiSourceWire(Wire):
    driver: str | None = None
    volume_handle: str | None = None


class _VolumeSpecWire(Wire):
    capacity: msgspec.Raw = ABSENT
    access_modes: list[str] | None = None
    node_affinity: _NodeAffinityWire | None = None
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    claim_ref: MetadataWire | None = None
    csi: _CsiSourceWire | None = None
    gce_persistent_disk: DiskWire | None = None
    aws_elastic_block_store: DiskWire | None = None
    azure_disk: DiskWire | None = None
    cinder: DiskWire | None = None
    portworx_volume: DiskWire | None = None


class _TopologyRequirementWire(Wire):
    key: str | None = None
    values: list[str] | None = None


class _TopologyWire(Wire):
    match_label_expressions: list[_TopologyRequirementWire] | None = None


class _ClassWire(Wire):
    metadata: MetadataWire | None = None
    provisioner: str | None = None
    volume_binding_mode: str | None = None
    allowed_topologies: list[_TopologyWire] | None = None


class _AllocatableWire(Wire):
    count: Int32 | None = None


class _NodeDriverWire(Wire):
    name: str | None = None
    allocatable: _AllocatableWire | None = None


class _CsiNodeSpecWire(Wire):
    drivers: list[_NodeDriverWire] | None = None


class _CsiDriverSpecWire(Wire):
    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class _CapacityWire(Wire):
    metadata: MetadataWire | None = None
    storage_class_name: str | None = None
    node_topology: msgspec.Raw = ABSENT
    capacity: msgspec.Raw = ABSENT
    maximum_volume_size: msgspec.Raw = ABSENT


class _InlineVolumeWire(Wire):
    csi: _CsiSourceWire | None = None


class _AttachmentSourceWire(Wire):
    persistent_volume_name: str | None = None
    inline_volume_spec: _InlineVolumeWire | None = None


class _AttachmentSpecWire(Wire):
    attacher: str | None = None
    node_name: str | None = None
    source: _AttachmentSourceWire | None = None


_read_claim = ObjectReader(ClaimSpecWire, _PhaseWire)
_read_volume = ObjectReader(_VolumeSpecWire, _PhaseWire)
_read_class = msgspec.json.Decoder(_ClassWire).decode
_read_csi_node = SpecReader(_CsiNodeSpecWire)
_read_csi_driver = SpecReader(_CsiDriverSpecWire)
_read_capacity = msgspec.json.Decoder(_CapacityWire).decode
_read_attachment = SpecReader(_AttachmentSpecWire)


def _text(annotations: Mapping[str, msgspec.Raw], key: str) -> str:
    return decode_text(annotations[key]) if key in annotations else ""


def _class_name(annotations: Mapping[str, msgspec.Raw], stated: str | None) -> str:
    """The storage class; where an annotation names one, it counts."""
    return _text(annotations, BETA_CLASS_ANNOTATION) if BETA_CLASS_ANNOTATION in annotations else stated or ""


def decode_claim(block: bytes) -> PersistentVolumeClaim:
    metadata, spec, status = _read_claim(block)
    annotations = metadata.annotations or {}
    volume_name = spec.volume_name or ""
    controllers = [owner.uid for owner in decode_owners(bytes(metadata.owner_references)) if owner.controller]
    return PersistentVolumeClaim(
        namespace=metadata.namespace or "",
        name=metadata.name or "",
        storage_class=_class_name(annotations, spec.storage_class_name),
        uid=metadata.uid or "",
        volume_name=volume_name,
        is_bound=bool(volume_name) and BOUND_ANNOTATION in annotations,
        selected_node=_text(annotations, SELECTED_NODE_ANNOTATION),
        access_modes=frozenset(spec.access_modes or ()),
        request_bytes=requested_bytes(spec),
        volume_mode=spec.volume_mode or FILESYSTEM,
        attributes_class=spec.volume_attributes_class_name or "",
        selector=decode_nullable_selector(bytes(spec.selector), EVERYTHING),
        phase=status.phase or "",
        is_deleting=metadata.deletion_timestamp is not None,
        owner_uid=controllers[0] if controllers else "",
    )


def decode_volume(block: bytes) -> PersistentVolume:
    metadata, spec, status = _read_volume(block)
    annotations = metadata.annotations or {}
    claim = spec.claim_ref
    labels = decode_labels(bytes(metadata.labels))
    driver, handle, plugin = _csi_source(spec, labels)
    return PersistentVolume(
        name=metadata.name or "",
        labels=labels,
        node_affinity=decode_node_affinity(bytes(spec.node_affinity.required)) if spec.node_affinity else None,
        capacity_bytes=ceil_value(decode_quantities(bytes(spec.capacity)).get("storage", 0)),
        access_modes=frozenset(spec.access_modes or ()),
        storage_class=_class_name(annotations, spec.storage_class_name),
        volume_mode=spec.volume_mode or FILESYSTEM,
        attributes_class=spec.volume_attributes_class_name or "",
        phase=status.phase or "",
        is_deleting=metadata.deletion_timestamp is not None,
        claim_ref=ClaimReference(claim.namespace or "", claim.name or "", claim.uid or "") if claim else None,
        csi_driver=driver,
        csi_handle=handle,
        in_tree_plugin=plugin,
    )


_IN_TREE: Mapping[str, Callable[[_VolumeSpecWire], DiskWire | None]] = {
    "kubernetes.io/gce-pd": lambda spec: spec.gce_persistent_disk,
    "kubernetes.io/aws-ebs": lambda spec: spec.aws_elastic_block_store,
    "kubernetes.io/azure-disk": lambda spec: spec.azure_disk,
    "kubernetes.io/cinder": lambda spec: spec.cinder,
    "kubernetes.io/portworx-volume": lambda spec: spec.portworx_volume,
}
"""Provisioner → what its volumes state as their source."""


def _csi_source(spec: _VolumeSpecWire, labels: Mapping[str, str]) -> tuple[str, str, str]:
    """The driver, the handle, and the plugin that the driver took over from."""
    if spec.csi is not None:
        return spec.csi.driver or "", spec.csi.volume_handle or "", ""
    for plugin, source_of in _IN_TREE.items():
        source = source_of(spec)
        if source is not None:
            return MIGRATED_DRIVERS[plugin], _handle(source, labels), plugin
    return "", "", ""


def _handle(source: DiskWire, labels: Mapping[str, str]) -> str:
    """What the driver calls the volume; empty for one that it does not serve."""
    if source.pd_name:
        return gce_handle(source.pd_name, zones_of(labels))
    if source.disk_uri:
        return source.disk_uri if is_managed_disk(source.kind) else ""
    return ebs_handle(source.volume_id or "")


def decode_storage_class(block: bytes) -> StorageClass:
    wire = _read_class(block)
    metadata = wire.metadata or MetadataWire()
    annotations = metadata.annotations or {}
    return StorageClass(
        name=metadata.name or "",
        provisioner=wire.provisioner or "",
        binding_mode=wire.volume_binding_mode or "Immediate",
        allowed_topologies=tuple(
            tuple(Requirement(e.key or "", "In", frozenset(e.values or ())) for e in term.match_label_expressions or ())
            for term in wire.allowed_topologies or ()
        ),
        is_default=any(_text(annotations, key) == "true" for key in DEFAULT_CLASS_ANNOTATIONS),
        created_at=set_time(metadata.creation_timestamp),
    )


def decode_csi_node(block: bytes) -> CSINode:
    metadata, spec = _read_csi_node(block)
    limits = {each.name or "": each.allocatable.count if each.allocatable else None for each in spec.drivers or ()}
    migrated = _text(metadata.annotations or {}, MIGRATED_PLUGINS_ANNOTATION)
    return CSINode(metadata.name or "", limits, frozenset(filter(None, migrated.split(","))))


def decode_csi_driver(block: bytes) -> CSIDriver:
    metadata, spec = _read_csi_driver(block)
    return CSIDriver(
        metadata.name or "",
        tracks_capacity=bool(spec.storage_capacity),
        is_required=bool(spec.prevent_pod_scheduling_if_missing),
    )


def decode_storage_capacity(block: bytes) -> CSIStorageCapacity:
    wire = _read_capacity(block)
    metadata = wire.metadata or MetadataWire()
    return CSIStorageCapacity(
        namespace=metadata.namespace or "",
        name=metadata.name or "",
        storage_class=wire.storage_class_name or "",
        node_topology=decode_nullable_selector(bytes(wire.node_topology), NOTHING),
        capacity=_whole(decode_quantity(bytes(wire.capacity))),
        maximum_volume_size=_whole(decode_quantity(bytes(wire.maximum_volume_size))),
    )


def _whole(nano: int | None) -> int | None:
    return None if nano is None else ceil_value(nano)


def decode_attachment(block: bytes) -> VolumeAttachment:
    metadata, spec = _read_attachment(block)
    source = spec.source or _AttachmentSourceWire()
    inline = (source.inline_volume_spec.csi if source.inline_volume_spec else None) or _CsiSourceWire()
    return VolumeAttachment(
        name=metadata.name or "",
        attacher=spec.attacher or "",
        node_name=spec.node_name or "",
        volume_name=source.persistent_volume_name or "",
        inline_driver=inline.driver or "",
        inline_handle=inline.volume_handle or "",
    )

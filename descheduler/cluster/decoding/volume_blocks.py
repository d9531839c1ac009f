"""What volumes of a pod, and claims, say about storage."""

from __future__ import annotations

import msgspec

from descheduler.cluster.decoding.affinity_blocks import decode_nullable_selector
from descheduler.cluster.decoding.blocks import decode_labels, decode_quantities
from descheduler.cluster.decoding.wire import ABSENT, MetadataWire, VolumeWire, Wire
from descheduler.model.pod import EphemeralVolume, InlineDisk
from descheduler.model.quantity import ceil_value
from descheduler.model.selection.labels import EVERYTHING
from descheduler.model.volume_sources import FILESYSTEM, ClaimTemplate


class _ResourcesWire(Wire):
    requests: msgspec.Raw = ABSENT


class ClaimSpecWire(Wire):
    """`spec` of a claim or of a template of one."""

    storage_class_name: str | None = None
    volume_name: str | None = None
    access_modes: list[str] | None = None
    resources: _ResourcesWire | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    selector: msgspec.Raw = ABSENT


class ClaimTemplateWire(Wire):
    """`volumeClaimTemplate` of a volume, or one of a StatefulSet's."""

    metadata: MetadataWire | None = None
    spec: ClaimSpecWire | None = None


class _EphemeralWire(Wire):
    volume_claim_template: ClaimTemplateWire | None = None


class _ImageWire(Wire):
    reference: str | None = None


class DiskWire(Wire):
    """A disk of any kind that a pod or a volume states itself: their fields do not clash."""

    pd_name: str | None = None
    volume_id: str | None = msgspec.field(default=None, name="volumeID")
    disk_uri: str | None = msgspec.field(default=None, name="diskURI")
    kind: str | None = None
    iqn: str | None = None
    pool: str | None = None
    image: str | None = None
    monitors: list[str] | None = None
    read_only: bool | None = None


_decode_ephemeral = msgspec.json.Decoder(_EphemeralWire | None).decode
_decode_image = msgspec.json.Decoder(_ImageWire | None).decode
_decode_disk = msgspec.json.Decoder(DiskWire | None).decode


def requested_bytes(spec: ClaimSpecWire) -> int:
    """The storage that a claim asks for, rounded up."""
    requests = decode_quantities(bytes(spec.resources.requests)) if spec.resources else {}
    return ceil_value(requests.get("storage", 0))


def claim_template(wire: ClaimTemplateWire) -> ClaimTemplate:
    """The claim that the template makes; its name is empty where the volume of a pod gives it."""
    metadata = wire.metadata or MetadataWire()
    spec = wire.spec or ClaimSpecWire()
    return ClaimTemplate(
        name=metadata.name or "",
        storage_class=spec.storage_class_name,
        access_modes=frozenset(spec.access_modes or ()),
        request_bytes=requested_bytes(spec),
        volume_mode=spec.volume_mode or FILESYSTEM,
        attributes_class=spec.volume_attributes_class_name or "",
        selector=decode_nullable_selector(bytes(spec.selector), EVERYTHING),
        volume_name=spec.volume_name or "",
        labels=decode_labels(bytes(metadata.labels)),
    )


def decode_ephemeral_volume(name: str, block: bytes, num_claims_before: int) -> EphemeralVolume | None:
    """The volume of this name and `ephemeral` source, after so many that name a claim; None for null."""
    wire = _decode_ephemeral(block)
    if wire is None:
        return None
    return EphemeralVolume(name, claim_template(wire.volume_claim_template or ClaimTemplateWire()), num_claims_before)


def decode_volume_image(block: bytes) -> str:
    """The reference of an `image` source; empty for null."""
    wire = _decode_image(block)
    return "" if wire is None else wire.reference or ""


def decode_inline_disk(volume: VolumeWire) -> InlineDisk | None:
    """The disk that a volume states itself, of the kinds that the scheduler looks at; None for others."""
    if (disk := _disk(volume.gce_persistent_disk)) is not None:
        return InlineDisk("gcePersistentDisk", (disk.pd_name or "",), bool(disk.read_only))
    if (disk := _disk(volume.aws_elastic_block_store)) is not None:
        return InlineDisk("awsElasticBlockStore", (disk.volume_id or "",), bool(disk.read_only))
    if (disk := _disk(volume.iscsi)) is not None:
        return InlineDisk("iscsi", (disk.iqn or "",), bool(disk.read_only))
    if (disk := _disk(volume.rbd)) is not None:
        # The API server fills in the pool where a pod names none.
        identity = (disk.pool or "rbd", disk.image or "")
        return InlineDisk("rbd", identity, bool(disk.read_only), frozenset(disk.monitors or ()))
    if (disk := _disk(volume.azure_disk)) is not None:
        return InlineDisk("azureDisk", (disk.disk_uri or "",)) if is_managed_disk(disk.kind) else None
    if (disk := _disk(volume.cinder)) is not None:
        return InlineDisk("cinder", (disk.volume_id or "",))
    if (disk := _disk(volume.portworx_volume)) is not None:
        return InlineDisk("portworxVolume", (disk.volume_id or "",))
    return None


def is_managed_disk(kind: str | None) -> bool:
    """Whether an Azure disk of this kind is one that the CSI driver serves."""
    return kind is None or kind.lower() == "managed"


def _disk(raw: msgspec.Raw) -> DiskWire | None:
    disk: DiskWire | None = _decode_disk(bytes(raw))
    return disk

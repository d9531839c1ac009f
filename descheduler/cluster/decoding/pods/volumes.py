"""The volumes of a pod: mostly none that any rule looks at."""

from __future__ import annotations

import msgspec

from descheduler.cluster.decoding.volume_blocks import decode_ephemeral_volume, decode_inline_disk, decode_volume_image
from descheduler.cluster.decoding.wire import ABSENT, VolumeWire
from descheduler.model.pod import EphemeralVolume, InlineDisk

__all__ = ["NO_VOLUMES", "PodVolumes", "read_volumes"]


class PodVolumes(msgspec.Struct, frozen=True, gc=False):
    """What rules read of a pod's volumes; images are those that are mounted."""

    claim_names: tuple[str, ...] = ()
    has_local_storage: bool = False
    ephemeral: tuple[EphemeralVolume, ...] = ()
    images: tuple[str, ...] = ()
    disks: tuple[InlineDisk, ...] = ()


NO_VOLUMES = PodVolumes()
_LOCAL = PodVolumes(has_local_storage=True)
_NULL = b"null"


def read_volumes(volumes: list[VolumeWire] | None) -> PodVolumes:
    """What `volumes` say; one shared value where they say nothing of interest."""
    if not volumes:
        return NO_VOLUMES
    claims: tuple[str, ...] = ()
    is_local = is_special = False
    for volume in volumes:
        claim = volume.persistent_volume_claim
        if claim is not None:
            claims = (*claims, claim.claim_name or "")
        if volume.host_path is not ABSENT or volume.empty_dir is not ABSENT:
            is_local = is_local or bytes(volume.host_path) != _NULL or bytes(volume.empty_dir) != _NULL
        if (
            volume.ephemeral is not ABSENT
            or volume.image is not ABSENT
            or volume.gce_persistent_disk is not ABSENT
            or volume.aws_elastic_block_store is not ABSENT
            or volume.azure_disk is not ABSENT
            or volume.cinder is not ABSENT
            or volume.portworx_volume is not ABSENT
            or volume.iscsi is not ABSENT
            or volume.rbd is not ABSENT
        ):
            is_special = True
    if is_special:
        return _read_special(volumes, claims, has_local_storage=is_local)
    if claims:
        return PodVolumes(claims, is_local)
    return _LOCAL if is_local else NO_VOLUMES


def _read_special(volumes: list[VolumeWire], claims: tuple[str, ...], *, has_local_storage: bool) -> PodVolumes:
    num_claims = 0
    ephemeral = []
    for each in volumes:
        num_claims += each.persistent_volume_claim is not None
        if each.ephemeral is not ABSENT:
            ephemeral.append(decode_ephemeral_volume(each.name or "", bytes(each.ephemeral), num_claims))
    images = [decode_volume_image(bytes(v.image)) for v in volumes if v.image is not ABSENT]
    disks = [decode_inline_disk(volume) for volume in volumes]
    return PodVolumes(
        claim_names=claims,
        has_local_storage=has_local_storage,
        ephemeral=tuple([volume for volume in ephemeral if volume is not None]),
        images=tuple([image for image in images if image]),
        disks=tuple([disk for disk in disks if disk is not None]),
    )

"""PodGroups of Koordinator and scheduler-plugins, from the bytes of the API to model values."""

from __future__ import annotations

import msgspec

from descheduler.cluster.decoding.annotations import AnnotationReader
from descheduler.cluster.decoding.times import set_time
from descheduler.cluster.decoding.wire import Int32, MetadataWire, Wire
from descheduler.model.annotations import AnnotationKeys
from descheduler.model.koordinator.gang_settings import GANG_ANNOTATIONS, PodGroup

__all__ = ["decode_pod_group", "decode_scheduler_plugins_pod_group"]


class _Spec(Wire):
    min_member: Int32 | None = None
    schedule_timeout_seconds: Int32 | None = None


class _PodGroup(Wire):
    metadata: MetadataWire | None = None
    spec: _Spec | None = None


_decode = msgspec.json.Decoder(_PodGroup).decode
_annotations = AnnotationReader(AnnotationKeys(GANG_ANNOTATIONS))


def decode_pod_group(block: bytes) -> PodGroup:
    """One PodGroup of `scheduling.sigs.k8s.io`, Koordinator's."""
    return _pod_group(block, "scheduling.sigs.k8s.io")


def decode_scheduler_plugins_pod_group(block: bytes) -> PodGroup:
    """One PodGroup of `scheduling.x-k8s.io`."""
    return _pod_group(block, "scheduling.x-k8s.io")


def _pod_group(block: bytes, api_group: str) -> PodGroup:
    wire = _decode(block)
    metadata, spec = wire.metadata or MetadataWire(), wire.spec or _Spec()
    return PodGroup(
        namespace=metadata.namespace or "",
        name=metadata.name or "",
        min_member=spec.min_member or 0,
        schedule_timeout_seconds=spec.schedule_timeout_seconds,
        annotations=_annotations.read(metadata.annotations),
        created_at=set_time(metadata.creation_timestamp),
        api_group=api_group,
    )

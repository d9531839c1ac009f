"""PodMigrationJobs, from the bytes of the API to model values."""

from __future__ import annotations

import msgspec

from descheduler.cluster.decoding.blocks import decode_text
from descheduler.cluster.decoding.times import set_time
from descheduler.cluster.decoding.wire import MetadataWire, Wire
from descheduler.model.koordinator.eviction_annotations import (
    CREATED_BY_ANNOTATION,
    PASSED_ARBITRATION_ANNOTATION,
    PROVIDER_ANNOTATION,
    REASON_ANNOTATION,
    REPLACEMENT_ANNOTATION,
    SURGE_ANNOTATION,
    TRIGGER_ANNOTATION,
)
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import EVICT_ANNOTATION
from descheduler.model.text.duration import parse_duration

__all__ = ["decode_migration_job"]

_ANNOTATIONS = (
    PASSED_ARBITRATION_ANNOTATION,
    EVICT_ANNOTATION,
    CREATED_BY_ANNOTATION,
    PROVIDER_ANNOTATION,
    REASON_ANNOTATION,
    REPLACEMENT_ANNOTATION,
    SURGE_ANNOTATION,
    TRIGGER_ANNOTATION,
)
"""The keys that some rule reads on jobs."""


class _SpecWire(Wire):
    paused: bool | None = None
    ttl: str | None = None
    mode: str | None = None
    pod_ref: MetadataWire | None = None


class _StatusWire(Wire):
    phase: str | None = None


class _JobWire(Wire):
    metadata: MetadataWire | None = None
    spec: _SpecWire | None = None
    status: _StatusWire | None = None


_decode = msgspec.json.Decoder(_JobWire).decode


def decode_migration_job(block: bytes) -> MigrationJob:
    """One PodMigrationJob of Koordinator. Raises ValueError for a `ttl` that is no duration."""
    wire = _decode(block)
    metadata, spec = wire.metadata or MetadataWire(), wire.spec or _SpecWire()
    reference, found = spec.pod_ref or MetadataWire(), metadata.annotations or {}
    return MigrationJob(
        name=metadata.name or "",
        phase=(wire.status or _StatusWire()).phase or "",
        pod_namespace=reference.namespace or "",
        pod_name=reference.name or "",
        pod_uid=reference.uid or "",
        created_at=set_time(metadata.creation_timestamp),
        is_paused=bool(spec.paused),
        ttl=parse_duration(spec.ttl) if spec.ttl else None,
        mode=spec.mode or "",
        annotations={key: decode_text(found[key]) for key in _ANNOTATIONS if key in found},
    )

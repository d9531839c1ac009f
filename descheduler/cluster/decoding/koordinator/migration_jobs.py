"""PodMigrationJobs, from the bytes of the API to model values."""

from __future__ import annotations

from descheduler.cluster.decoding.blocks import decode_text
from descheduler.cluster.decoding.wire import ConditionWire, MetadataWire, ObjectReader, Wire, set_time
from descheduler.model.koordinator.eviction_annotations import JOB_ANNOTATIONS
from descheduler.model.koordinator.migration_job import JobCondition, MigrationJob
from descheduler.model.koordinator.reservation import ObjectReference
from descheduler.model.pod import EVICT_ANNOTATION
from descheduler.model.text.duration import parse_duration

_ANNOTATIONS = (*JOB_ANNOTATIONS, EVICT_ANNOTATION)
"""The keys that some rule reads on jobs."""


class _ReservationOptionsWire(Wire):
    reservation_ref: MetadataWire | None = None


class _SpecWire(Wire):
    paused: bool | None = None
    ttl: str | None = None
    mode: str | None = None
    pod_ref: MetadataWire | None = None
    reservation_options: _ReservationOptionsWire | None = None


class _StatusWire(Wire):
    phase: str | None = None
    status: str | None = None
    reason: str | None = None
    conditions: list[ConditionWire] | None = None
    node_name: str | None = None
    pod_ref: MetadataWire | None = None


_read = ObjectReader(_SpecWire, _StatusWire)


def decode_migration_job(block: bytes) -> MigrationJob:
    """One PodMigrationJob of Koordinator, without its messages, which may hold anything.

    Raises ValueError for a `ttl` that is no duration.
    """
    metadata, spec, status = _read(block)
    options = spec.reservation_options or _ReservationOptionsWire()
    reference, found = spec.pod_ref or MetadataWire(), metadata.annotations or {}
    return MigrationJob(
        name=metadata.name or "",
        phase=status.phase or "",
        pod_namespace=reference.namespace or "",
        pod_name=reference.name or "",
        pod_uid=reference.uid or "",
        created_at=set_time(metadata.creation_timestamp),
        is_paused=bool(spec.paused),
        ttl=parse_duration(spec.ttl) if spec.ttl else None,
        mode=spec.mode or "",
        annotations={key: decode_text(found[key]) for key in _ANNOTATIONS if key in found},
        is_terminating=metadata.deletion_timestamp is not None,
        reservation_name=(options.reservation_ref or MetadataWire()).name or "",
        condition=status.status or "",
        reason=status.reason or "",
        conditions=tuple(map(_condition, status.conditions or ())),
        node_name=status.node_name or "",
        replacement=None if status.pod_ref is None else _reference(status.pod_ref),
    )


def _condition(wire: ConditionWire) -> JobCondition:
    return JobCondition(
        type=wire.type or "",
        is_true=wire.status == "True",
        reason=wire.reason or "",
        transitioned_at=set_time(wire.last_transition_time),
    )


def _reference(wire: MetadataWire) -> ObjectReference:
    return ObjectReference(wire.namespace or "", wire.name or "", wire.uid or "")

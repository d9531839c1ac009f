"""Jobs with all that carrying them out needs, which is more than decisions go by."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from descheduler.cluster.decoding.koordinator.migration_jobs import decode_migration_job
from descheduler.model.koordinator.migration_job import JobCondition, MigrationJob
from descheduler.model.koordinator.reservation import ObjectReference

__all__ = ["decode_live_job"]


class _Wire(msgspec.Struct, rename="camel"):
    """What is read here may be null, as Kubernetes' own decoder has it."""


class _Metadata(_Wire):
    uid: str | None = None
    resource_version: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None


class _Reference(_Wire):
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None


class _ReservationOptions(_Wire):
    reservation_ref: _Reference | None = None
    template: dict[str, Any] | None = None


class _Spec(_Wire):
    reservation_options: _ReservationOptions | None = None
    delete_options: dict[str, Any] | None = None


class _Condition(_Wire):
    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None


class _Status(_Wire):
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    conditions: list[_Condition] | None = None
    node_name: str | None = None
    pod_ref: _Reference | None = None


class _Job(_Wire):
    metadata: _Metadata | None = None
    spec: _Spec | None = None
    status: _Status | None = None


_decode = msgspec.json.Decoder(_Job).decode


def decode_live_job(block: bytes) -> MigrationJob:
    """One PodMigrationJob, whole. Raises ValueError for a `ttl` that is no duration."""
    wire = _decode(block)
    metadata, spec, status = wire.metadata or _Metadata(), wire.spec or _Spec(), wire.status or _Status()
    options = spec.reservation_options or _ReservationOptions()
    return msgspec.structs.replace(
        decode_migration_job(block),
        labels=metadata.labels or {},
        uid=metadata.uid or "",
        resource_version=metadata.resource_version or "",
        is_terminating=metadata.deletion_timestamp is not None,
        reservation_name=(options.reservation_ref or _Reference()).name or "",
        template=options.template or {},
        delete_options=spec.delete_options or {},
        condition=status.status or "",
        reason=status.reason or "",
        message=status.message or "",
        conditions=tuple(map(_condition, status.conditions or ())),
        node_name=status.node_name or "",
        replacement=None if status.pod_ref is None else _reference(status.pod_ref),
    )


def _condition(wire: _Condition) -> JobCondition:
    return JobCondition(
        type=wire.type or "",
        is_true=wire.status == "True",
        reason=wire.reason or "",
        message=wire.message or "",
        probed_at=wire.last_probe_time,
        transitioned_at=wire.last_transition_time,
    )


def _reference(wire: _Reference) -> ObjectReference:
    return ObjectReference(wire.namespace or "", wire.name or "", wire.uid or "")

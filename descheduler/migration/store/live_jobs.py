"""Jobs with all that carrying them out needs, which is more than decisions go by."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from descheduler.cluster.decoding.koordinator.migration_jobs import decode_migration_job
from descheduler.model.koordinator.migration_job import MigrationJob

__all__ = ["decode_live_job"]


class _Wire(msgspec.Struct, rename="camel"):
    """What is read here may be null, as Kubernetes' own decoder has it."""


class _Owner(_Wire):
    kind: str | None = None
    name: str | None = None


class _Metadata(_Wire):
    uid: str | None = None
    resource_version: str | None = None
    labels: dict[str, str] | None = None
    owner_references: list[_Owner] | None = None


class _ReservationOptions(_Wire):
    template: dict[str, Any] | None = None


class _Spec(_Wire):
    reservation_options: _ReservationOptions | None = None
    delete_options: dict[str, Any] | None = None


class _Condition(_Wire):
    message: str | None = None
    last_probe_time: datetime | None = None


class _Status(_Wire):
    message: str | None = None
    conditions: list[_Condition] | None = None


class _Job(_Wire):
    metadata: _Metadata | None = None
    spec: _Spec | None = None
    status: _Status | None = None


_decode = msgspec.json.Decoder(_Job).decode


def decode_live_job(block: bytes) -> MigrationJob:
    """One PodMigrationJob, whole. Raises ValueError for a `ttl` that is no duration."""
    wire, decided_on = _decode(block), decode_migration_job(block)
    metadata, spec, status = wire.metadata or _Metadata(), wire.spec or _Spec(), wire.status or _Status()
    conditions = zip(decided_on.conditions, status.conditions or (), strict=True)
    return replace(
        decided_on,
        labels=metadata.labels or {},
        uid=metadata.uid or "",
        resource_version=metadata.resource_version or "",
        template=(spec.reservation_options or _ReservationOptions()).template or {},
        delete_options=spec.delete_options or {},
        message=status.message or "",
        owned_by=next((f"{owner.kind} {owner.name}" for owner in metadata.owner_references or ()), ""),
        conditions=tuple(
            replace(condition, message=more.message or "", probed_at=more.last_probe_time)
            for condition, more in conditions
        ),
    )

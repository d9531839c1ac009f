"""PodMigrationJobs as the API server has them, with all that carrying them out needs, and as they are written to it.

The annotation that names who created a job is written by whoever creates it. A job is ours when all of it is as this
program writes jobs: its name, that it has no owner, and what every job of ours states.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from descheduler.cluster.decoding.koordinator.migration_jobs import decode_migration_job
from descheduler.migration.store.journal import NewJob
from descheduler.model.koordinator.eviction_annotations import (
    CREATED_BY_ANNOTATION,
    PASSED_ARBITRATION_ANNOTATION,
    PROVIDER_ANNOTATION,
    REASON_ANNOTATION,
    REPLACEMENT_ANNOTATION,
    ROOMS_ANNOTATION,
    SURGE_ANNOTATION,
    TARGET_NODE_ANNOTATION,
    TRIGGER_ANNOTATION,
)
from descheduler.model.koordinator.migration_job import (
    MIGRATION_JOB,
    MIGRATION_JOB_API_VERSION,
    JobCondition,
    MigrationJob,
)
from descheduler.model.koordinator.reservation import ObjectReference
from descheduler.model.text.duration import format_duration
from descheduler.model.text.printable import clipped


def new_job_object(wanted: NewJob, name: str, created_by: str) -> dict[str, Any]:
    """The object of a new job, which is admitted at once: the plan is its arbitration."""
    spec: dict[str, Any] = {
        "podRef": {"namespace": wanted.namespace, "name": wanted.name, "uid": wanted.uid},
        "mode": wanted.mode,
    }
    if wanted.ttl is not None:
        spec["ttl"] = format_duration(wanted.ttl)
    if wanted.delete_options:
        spec["deleteOptions"] = wanted.delete_options
    annotations = {
        REASON_ANNOTATION: wanted.reason,
        TRIGGER_ANNOTATION: wanted.plugin,
        CREATED_BY_ANNOTATION: created_by,
        PASSED_ARBITRATION_ANNOTATION: "true",
        PROVIDER_ANNOTATION: wanted.provider,
    }
    if wanted.successors:
        annotations[REPLACEMENT_ANNOTATION] = wanted.successors
    if wanted.surge:
        annotations[SURGE_ANNOTATION] = wanted.surge
    if wanted.held_on:
        annotations[TARGET_NODE_ANNOTATION] = wanted.held_on
    if wanted.rooms:
        annotations[ROOMS_ANNOTATION] = msgspec.json.encode(wanted.rooms).decode()
    metadata = {"name": name, "annotations": annotations}
    return {"apiVersion": MIGRATION_JOB_API_VERSION, "kind": MIGRATION_JOB, "metadata": metadata, "spec": spec}


def spec_of(job: MigrationJob) -> dict[str, Any]:
    """The spec of `job`, whole."""
    spec: dict[str, Any] = {
        "paused": job.is_paused,
        "podRef": {"namespace": job.pod_namespace, "name": job.pod_name, "uid": job.pod_uid},
        "mode": job.mode,
        "deleteOptions": dict(job.delete_options),
    }
    if job.ttl is not None:
        spec["ttl"] = format_duration(job.ttl)
    if job.reservation_name:
        spec["reservationOptions"] = {"reservationRef": {"name": job.reservation_name}}
    return spec


def spec_patch(old: MigrationJob, new: MigrationJob) -> dict[str, Any]:
    """What has changed of the spec, as a JSON merge patch; empty where nothing has."""
    patch: dict[str, Any] = {}
    if new.pod_uid != old.pod_uid:
        patch["podRef"] = {"uid": new.pod_uid}
    if new.reservation_name != old.reservation_name:
        patch["reservationOptions"] = {"reservationRef": {"name": new.reservation_name}}
    return patch


def annotations_patch(old: MigrationJob, new: MigrationJob) -> dict[str, str]:
    """The annotations that are other ones now; none is ever taken away."""
    return {key: text for key, text in new.annotations.items() if old.annotations.get(key) != text}


def status_of(job: MigrationJob) -> dict[str, Any]:
    """The status of `job`, whole."""
    status: dict[str, Any] = {
        "phase": job.phase,
        "status": job.condition,
        "reason": job.reason,
        "message": job.message,
        "conditions": [_condition(condition) for condition in job.conditions],
        "nodeName": job.node_name,
    }
    if job.replacement is not None:
        status["podRef"] = _reference(job.replacement)
    return status


def _condition(condition: JobCondition) -> dict[str, Any]:
    written = {
        "type": condition.type,
        "status": str(condition.is_true),
        "reason": condition.reason,
        "message": condition.message,
        "lastProbeTime": _time(condition.probed_at),
        "lastTransitionTime": _time(condition.transitioned_at),
    }
    return {key: text for key, text in written.items() if text}


def _time(moment: datetime | None) -> str:
    """To the second, as Kubernetes keeps times; "" for none."""
    return "" if moment is None else moment.replace(microsecond=0).isoformat().replace("+00:00", "Z")


def _reference(pod: ObjectReference) -> dict[str, str]:
    return {"kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid}


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


MAP_PREFIX = "descheduler-job-"
"""Beginning of the names of ConfigMaps that hold jobs."""
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MOST_SHOWN = 100
_OF_RUNS = frozenset({SURGE_ANNOTATION, PROVIDER_ANNOTATION, ROOMS_ANNOTATION})
"""Annotations that repeat what the policy and the plan of a run say."""


class _ObjectMetadata(msgspec.Struct):
    name: str = ""
    uid: str = ""


class Head(msgspec.Struct):
    """What is read of an object whatever else it holds."""

    metadata: _ObjectMetadata


decode_head = msgspec.json.Decoder(Head).decode


def job_differs(job: MigrationJob, created_by: str, prefix: str = "") -> str:
    """What tells `job` from one that this program has created as `created_by`, "" where nothing does.

    The name of what keeps it begins with `prefix`.
    """
    if job.annotations.get(CREATED_BY_ANNOTATION) != created_by:
        return f"its annotation {CREATED_BY_ANNOTATION} is not {created_by}"
    if not (job.name.startswith(prefix) and _UUID.fullmatch(job.name.removeprefix(prefix))):
        return f"its name is not {prefix}UUID"
    if job.owned_by:
        return f"{clipped(job.owned_by, _MOST_SHOWN)} owns it"
    if not (job.has_passed and job.annotations.get(PROVIDER_ANNOTATION) and job.mode and job.pod_uid):
        return "it does not state all that jobs of this program state"
    return ""


def without_foreign_marks(job: MigrationJob, created_by: str) -> MigrationJob:
    """`job` with what it says of its surge, its provider and room for pending pods only if this program has created it
    as `created_by`, as far as its name tells: policies and plans alone say these.
    """
    is_claimed = job.annotations.get(CREATED_BY_ANNOTATION) == created_by and _UUID.fullmatch(job.name)
    if is_claimed or _OF_RUNS.isdisjoint(job.annotations):
        return job
    return replace(job, annotations={key: text for key, text in job.annotations.items() if key not in _OF_RUNS})

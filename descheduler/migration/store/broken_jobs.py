"""PodMigrationJobs that cannot be decoded: what can be told of one all the same, and its end."""

from __future__ import annotations

from typing import Any

import msgspec

from descheduler.cluster.decoding.culprit import explained_fault
from descheduler.kube.objects import is_object_name
from descheduler.migration.store.live_jobs import decode_live_job
from descheduler.model.koordinator.eviction_annotations import CREATED_BY_ANNOTATION
from descheduler.model.koordinator.migration_job import JobPhase, JobReason, MigrationJob
from descheduler.model.text.printable import clipped

__all__ = ["BrokenJob", "decode_any_job", "failed_status"]

_ENDED = frozenset({JobPhase.SUCCEEDED, JobPhase.FAILED, JobPhase.ABORTED})
_LONGEST_FAULT = 500
_TOO_DEEP = "it is nested too deeply"


class BrokenJob(msgspec.Struct, frozen=True):
    """A job of which a field holds what it cannot hold; `fault` says which. `created_by` is who says that he has
    created it, as this program does, or None."""

    name: str
    uid: str
    resource_version: str
    fault: str
    created_by: str | None
    has_ended: bool


def decode_any_job(block: bytes) -> MigrationJob | BrokenJob:
    """One PodMigrationJob. Raises ValueError for what does not say which one it is."""
    try:
        return decode_live_job(block)
    except (ValueError, RecursionError) as error:
        return _broken(block, str(error) if isinstance(error, ValueError) else _TOO_DEEP)


def failed_status(why: str) -> dict[str, Any]:
    """The status of a broken job that has failed, which takes the place of whatever it holds."""
    status = dict.fromkeys(("status", "nodeName", "podRef"))
    return {
        **status,
        "phase": JobPhase.FAILED.value,
        "reason": JobReason.INVALID_JOB.value,
        "message": why,
        "conditions": [],
    }


def _broken(block: bytes, fault: str) -> BrokenJob:
    try:
        found: Any = msgspec.json.decode(block)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    metadata = _part(found, "metadata")
    name, uid, version = (metadata.get(field) for field in ("name", "uid", "resourceVersion"))
    if not (isinstance(name, str) and isinstance(uid, str) and isinstance(version, str) and is_object_name(name)):
        raise ValueError("metadata is invalid")
    claimed = _part(metadata, "annotations").get(CREATED_BY_ANNOTATION)
    return BrokenJob(
        name=name,
        uid=uid,
        resource_version=version,
        fault=clipped(explained_fault(block, fault, _fault_of), _LONGEST_FAULT),
        created_by=None if claimed is None else str(claimed),
        has_ended=str(_part(found, "status").get("phase")) in _ENDED,
    )


def _part(whole: Any, field: str) -> dict[str, Any]:
    part = whole.get(field) if isinstance(whole, dict) else None
    return part if isinstance(part, dict) else {}


def _fault_of(block: bytes) -> str:
    try:
        decode_live_job(block)
    except (ValueError, RecursionError) as error:
        return str(error)
    return ""

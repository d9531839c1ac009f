"""Jobs kept as PodMigrationJobs, where the cluster has that kind: `kubectl get pmj` shows them.

Of one that cannot be decoded what can be told is told all the same, and it is ended.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from descheduler.cluster.decoding.culprit import TOO_DEEP, explained_fault
from descheduler.kube.objects import ObjectCalls, is_object_name
from descheduler.migration.store.journal import FoundJobs, NewJob, if_same
from descheduler.migration.store.unclear import create_surely, patch_surely
from descheduler.migration.store.wire import (
    annotations_patch,
    decode_live_job,
    job_differs,
    new_job_object,
    spec_patch,
    status_of,
    without_foreign_marks,
)
from descheduler.model.koordinator.eviction_annotations import CREATED_BY_ANNOTATION
from descheduler.model.koordinator.migration_job import (
    FINAL_PHASES,
    MIGRATION_JOB,
    MIGRATION_JOB_API_VERSION,
    JobPhase,
    JobReason,
    MigrationJob,
)
from descheduler.model.text.printable import clipped
from descheduler.transport.errors import ExchangeError

_LIST_PATH = f"/apis/{MIGRATION_JOB_API_VERSION}/podmigrationjobs"
_MOST_FAILED = 100
"""Jobs that one run ends because they cannot be decoded, a call each."""


class JobObjects:
    """The journal in PodMigrationJobs. `created_by` marks those of this program, in this run and the next."""

    kind = MIGRATION_JOB

    def __init__(self, objects: ObjectCalls, created_by: str) -> None:
        self._objects = objects
        self._created_by = created_by
        self._broken: tuple[_BrokenJob, ...] = ()

    def fail_broken(self, are_ours: Callable[[], bool]) -> tuple[str, ...]:
        """Ends jobs of users that cannot be decoded, of those that `found` has found, if this program looks after them.

        Each that has failed by that is named with what is wrong. One that cannot be changed is passed over: the run can
        do without.
        """
        waiting = [job for job in self._broken if job.created_by is None and not job.has_ended]
        if not (waiting and are_ours()):
            return ()
        return tuple(f"{job.name}: {job.fault}" for job in waiting[:_MOST_FAILED] if self._fail(job))

    def _fail(self, job: _BrokenJob) -> bool:
        patch = {
            "metadata": {"resourceVersion": job.resource_version, "uid": job.uid},
            "status": _failed_status(job.fault),
        }
        try:
            return self._objects.patch(f"{_path(job.name)}/status", patch, bytes) is not None
        except ExchangeError:
            return False

    def found(self) -> FoundJobs:
        """All jobs of the cluster, whoever created them, and what cannot be read or only says that it is ours."""
        found = self._objects.list_readable(_LIST_PATH, self._decode_any)
        jobs = tuple(each for each in found if isinstance(each, MigrationJob))
        self._broken = tuple(each for each in found if isinstance(each, _BrokenJob))
        claimed = [job for job in jobs if job.annotations.get(CREATED_BY_ANNOTATION) == self._created_by]
        notes = [_note(job.name, why) for job in claimed if (why := job_differs(job, self._created_by))]
        broken = [each.name for each in self._broken if each.created_by == self._created_by]
        notes += [_note(name, "it cannot be read") for name in broken]
        return FoundJobs(jobs, frozenset(each.uid for each in self._broken), tuple(notes))

    def new_name(self) -> str:
        """A UUID."""
        return str(uuid.uuid4())

    def create(self, wanted: NewJob, name: str) -> MigrationJob:
        """A new job. One whose creation had no clear answer is looked for by its name, which no other job has."""
        body = new_job_object(wanted, name, self._created_by)
        return create_surely(self._objects, _LIST_PATH, body, self._decode)

    def find(self, name: str) -> MigrationJob | None:
        """The job of this name."""
        return self._read(name)

    def read(self, job: MigrationJob) -> MigrationJob | None:
        """`job` as the API server has it; one that cannot be decoded any more is gone as far as a run is concerned."""
        return if_same(self._read(job.name), job)

    def save(self, old: MigrationJob, new: MigrationJob) -> MigrationJob | None:
        """Spec with annotations, and status, each where it has changed; a status that says the same is not written."""
        kept: MigrationJob | None = old
        spec, annotations = spec_patch(old, new), annotations_patch(old, new)
        if spec or annotations:
            kept = self._patch(old, "", {"spec": spec}, lambda found: not _changes(found, new), annotations)
        status = status_of(new)
        if kept is None or status == status_of(old):
            return kept
        wanted = replace(new, resource_version=kept.resource_version)
        return self._patch(wanted, "/status", {"status": status}, lambda found: status_of(found) == status)

    def delete(self, job: MigrationJob) -> None:
        """Removes the PodMigrationJob."""
        self._objects.delete(_path(job.name), uid=job.uid)

    def _read(self, name: str) -> MigrationJob | None:
        found = self._objects.read(_path(name), self._decode_any)
        return found if isinstance(found, MigrationJob) else None

    def _patch(
        self,
        job: MigrationJob,
        subresource: str,
        patch: dict[str, Any],
        is_done: Callable[[MigrationJob], bool],
        annotations: dict[str, str] | None = None,
    ) -> MigrationJob | None:
        metadata: dict[str, Any] = {"resourceVersion": job.resource_version, "uid": job.uid}
        body = {"metadata": metadata | ({"annotations": annotations} if annotations else {}), **patch}
        return patch_surely(self._objects, _path(job.name), body, self._decode, is_done, subresource=subresource)

    def _decode(self, block: bytes) -> MigrationJob:
        return without_foreign_marks(decode_live_job(block), self._created_by)

    def _decode_any(self, block: bytes) -> MigrationJob | _BrokenJob:
        found = decode_any_job(block)
        return without_foreign_marks(found, self._created_by) if isinstance(found, MigrationJob) else found


def _changes(old: MigrationJob, new: MigrationJob) -> bool:
    return bool(spec_patch(old, new) or annotations_patch(old, new))


def _note(name: str, why: str) -> str:
    return f"PodMigrationJob {name} has the annotation of a job of this program and was left alone: {why}"


def _path(name: str) -> str:
    return f"{_LIST_PATH}/{name}"


_LONGEST_FAULT = 500


class _BrokenJob(msgspec.Struct, frozen=True):
    """A job of which a field holds what it cannot hold; `fault` says which. `created_by` is who says that he has
    created it, as this program does, or None."""

    name: str
    uid: str
    resource_version: str
    fault: str
    created_by: str | None
    has_ended: bool


def decode_any_job(block: bytes) -> MigrationJob | _BrokenJob:
    """One PodMigrationJob. Raises ValueError for what does not say which one it is."""
    try:
        return decode_live_job(block)
    except (ValueError, RecursionError) as error:
        return _broken(block, str(error) if isinstance(error, ValueError) else TOO_DEEP)


def _failed_status(why: str) -> dict[str, Any]:
    """The status of a broken job that has failed, which takes the place of whatever it holds."""
    status = dict.fromkeys(("status", "nodeName", "podRef"))
    return {
        **status,
        "phase": JobPhase.FAILED.value,
        "reason": JobReason.INVALID_JOB.value,
        "message": why,
        "conditions": [],
    }


def _broken(block: bytes, fault: str) -> _BrokenJob:
    try:
        found: Any = msgspec.json.decode(block)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    metadata = _part(found, "metadata")
    name, uid, version = (metadata.get(field) for field in ("name", "uid", "resourceVersion"))
    if not (isinstance(name, str) and isinstance(uid, str) and isinstance(version, str) and is_object_name(name)):
        raise ValueError("metadata is invalid")
    claimed = _part(metadata, "annotations").get(CREATED_BY_ANNOTATION)
    return _BrokenJob(
        name=name,
        uid=uid,
        resource_version=version,
        fault=clipped(explained_fault(block, fault, _fault_of), _LONGEST_FAULT),
        created_by=None if claimed is None else str(claimed),
        has_ended=str(_part(found, "status").get("phase")) in FINAL_PHASES,
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

"""Jobs kept as ConfigMaps, one each, where the cluster has no PodMigrationJobs."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import Any

import msgspec

from descheduler.kube.objects import ObjectCalls
from descheduler.migration.room.labels import OWNER_LABEL
from descheduler.migration.store.journal import FoundJobs, NewJob, if_same
from descheduler.migration.store.unclear import create_surely, patch_surely
from descheduler.migration.store.wire import (
    MAP_PREFIX,
    Head,
    annotations_patch,
    decode_head,
    decode_live_job,
    job_differs,
    new_job_object,
    spec_of,
    status_of,
)
from descheduler.model.koordinator.migration_job import MigrationJob

_KEY = "job.json"


class ConfigMapJobs:
    """The journal in ConfigMaps of `namespace`; those of one policy bear its `owner`, a name that a label may have.

    Each holds the JSON of spec and status of a PodMigrationJob; name, UID and time of creation are its own.
    """

    kind = "ConfigMap"

    def __init__(self, objects: ObjectCalls, namespace: str, owner: str) -> None:
        self._objects = objects
        self._path = f"/api/v1/namespaces/{namespace}/configmaps"
        self._owner = owner

    def fail_broken(self, are_ours: Callable[[], bool]) -> tuple[str, ...]:
        """None: jobs of users are PodMigrationJobs."""
        return ()

    def found(self) -> FoundJobs:
        """All jobs of the policy; what has our label and holds no job of ours is told and left alone."""
        found = self._objects.list_readable(self._path, _decode_if_job, label_selector=f"{OWNER_LABEL}={self._owner}")
        read = [each for each in found if isinstance(each, MigrationJob)]
        unread = [each for each in found if isinstance(each, Head)]
        differs = [job_differs(job, self._owner, MAP_PREFIX) for job in read]
        jobs = tuple(job for job, why in zip(read, differs, strict=True) if not why)
        notes = [self._note(job.name, why) for job, why in zip(read, differs, strict=True) if why]
        notes += [self._note(each.metadata.name, f"{_KEY} does not hold a job") for each in unread]
        return FoundJobs(jobs, frozenset(each.metadata.uid for each in unread), tuple(notes))

    def _note(self, name: str, why: str) -> str:
        return f"ConfigMap {name} has the label {OWNER_LABEL}={self._owner} and was left alone: {why}"

    def new_name(self) -> str:
        """A UUID, after a prefix."""
        return f"{MAP_PREFIX}{uuid.uuid4()}"

    def create(self, wanted: NewJob, name: str) -> MigrationJob:
        """A new job. One whose creation had no clear answer is looked for by its name, which no other job has."""
        job = new_job_object(wanted, name, self._owner)
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {**job["metadata"], "labels": {OWNER_LABEL: self._owner}},
            "data": {_KEY: json.dumps({"spec": job["spec"]})},
        }
        return create_surely(self._objects, self._path, body, _decode)

    def find(self, name: str) -> MigrationJob | None:
        """The job of this name."""
        return self._objects.read(f"{self._path}/{name}", _decode)

    def read(self, job: MigrationJob) -> MigrationJob | None:
        """`job` as the API server has it; one that is no job any more is gone as far as a run is concerned."""
        found = self._objects.read(f"{self._path}/{job.name}", _decode_any)
        return if_same(found if isinstance(found, MigrationJob) else None, job)

    def save(self, old: MigrationJob, new: MigrationJob) -> MigrationJob | None:
        """The whole job in one write; none where it says the same."""
        text, annotations = _text(new), annotations_patch(old, new)
        if text == _text(old) and not annotations:
            return old
        metadata: dict[str, Any] = {"resourceVersion": old.resource_version, "uid": old.uid}
        metadata |= {"annotations": annotations} if annotations else {}
        body = {"metadata": metadata, "data": {_KEY: text}}
        path = f"{self._path}/{old.name}"
        return patch_surely(self._objects, path, body, _decode, lambda found: _says(found, new))

    def delete(self, job: MigrationJob) -> None:
        """Removes the ConfigMap."""
        self._objects.delete(f"{self._path}/{job.name}", uid=job.uid)


def _says(found: MigrationJob, wanted: MigrationJob) -> bool:
    return _text(found) == _text(wanted) and not annotations_patch(found, wanted)


def _text(job: MigrationJob) -> str:
    return json.dumps({"spec": spec_of(job), "status": status_of(job)})


class _ConfigMap(msgspec.Struct):
    metadata: dict[str, Any]
    data: dict[str, str] = {}


_decode_config_map = msgspec.json.Decoder(_ConfigMap).decode


def _decode(block: bytes) -> MigrationJob:
    """Raises ValueError where it holds no job."""
    found = _decode_config_map(block)
    held: Any = msgspec.json.decode(found.data.get(_KEY, ""))
    return decode_live_job(msgspec.json.encode({**held, "metadata": found.metadata}))


def _decode_any(block: bytes) -> MigrationJob | Head:
    """Raises ValueError for what does not say which one it is."""
    found = _decode_if_job(block)
    if isinstance(found, Head) and not found.metadata.uid:
        raise ValueError("metadata is invalid")
    return found


def _decode_if_job(block: bytes) -> MigrationJob | Head:
    try:
        return _decode(block)
    except (ValueError, TypeError, RecursionError):
        return decode_head(block)

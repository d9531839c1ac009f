"""Jobs kept as ConfigMaps, one each, where the cluster has no PodMigrationJobs."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import Any

import msgspec

from descheduler.kube.errors import KubeError, TransportError
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.journal.journal import NewJob
from descheduler.migration.journal.live_jobs import decode_live_job
from descheduler.migration.journal.wire import annotations_patch, new_job_object, spec_of, status_of
from descheduler.migration.providers.labels import OWNER_LABEL
from descheduler.model.koordinator.migration_job import MigrationJob

__all__ = ["ConfigMapJobs"]

_KEY = "job.json"


class ConfigMapJobs:
    """The journal in ConfigMaps of `namespace`; those of one policy bear its `owner`, a name that a label may have.

    Each holds the JSON of spec and status of a PodMigrationJob; name, UID and time of creation are its own.
    """

    def __init__(
        self,
        objects: ObjectCalls,
        namespace: str,
        owner: str,
        *,
        make_name: Callable[[], str] = lambda: f"descheduler-job-{uuid.uuid4()}",
    ) -> None:
        self._objects = objects
        self._path = f"/api/v1/namespaces/{namespace}/configmaps"
        self._owner = owner
        self._make_name = make_name

    def jobs(self) -> tuple[MigrationJob, ...]:
        """All of the policy; ConfigMaps that hold no job are left alone."""
        return self._objects.list_readable(self._path, _decode, label_selector=f"{OWNER_LABEL}={self._owner}")

    def fail_broken(self, are_ours: Callable[[], bool]) -> tuple[str, ...]:
        """None: jobs of users are PodMigrationJobs."""
        del are_ours
        return ()

    def create(self, wanted: NewJob) -> MigrationJob:
        """A new job. One whose creation had no clear answer is looked for by its name, which nobody else has."""
        name = self._make_name()
        job = new_job_object(wanted, name, self._owner)
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {**job["metadata"], "labels": {OWNER_LABEL: self._owner}},
            "data": {_KEY: json.dumps({"spec": job["spec"]})},
        }
        try:
            created = self._objects.create(self._path, body, _decode)
        except TransportError:
            created = None
        found = created or self._objects.read(f"{self._path}/{name}", _decode)
        if found is None:
            raise KubeError(f"ConfigMap {name} could not be created: no answer came, and it does not exist")
        return found

    def read(self, job: MigrationJob) -> MigrationJob | None:
        """`job` as the API server has it."""
        return self._objects.read(f"{self._path}/{job.name}", _decode)

    def save(self, old: MigrationJob, new: MigrationJob) -> MigrationJob | None:
        """The whole job in one write; none where it says the same."""
        text, annotations = _text(new), annotations_patch(old, new)
        if text == _text(old) and not annotations:
            return old
        metadata: dict[str, Any] = {"resourceVersion": old.resource_version, "uid": old.uid}
        metadata |= {"annotations": annotations} if annotations else {}
        body = {"metadata": metadata, "data": {_KEY: text}}
        return self._objects.patch(f"{self._path}/{old.name}", body, _decode)

    def delete(self, job: MigrationJob) -> None:
        """Removes the ConfigMap."""
        self._objects.delete(f"{self._path}/{job.name}", uid=job.uid)


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

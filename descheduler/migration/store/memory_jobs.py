"""Jobs that no later run has to know of: kept by the run alone, for evictions that hold no room."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable

from msgspec.structs import replace

from descheduler.migration.store.journal import FoundJobs, NewJob
from descheduler.model.koordinator.migration_job import JobPhase, MigrationJob

__all__ = ["MemoryJobs"]


class MemoryJobs:
    """The journal in memory. Safe to use from several threads.

    A job begins as running, since the plan has seen its pod. When it was created is not said: the times of pods are of
    the server's clock, which is not known here.
    """

    kind = "job"

    def __init__(self) -> None:
        self._jobs: dict[str, MigrationJob] = {}
        self._lock = threading.Lock()

    def fail_broken(self, are_ours: Callable[[], bool]) -> tuple[str, ...]:
        """None can be broken."""
        del are_ours
        return ()

    def found(self) -> FoundJobs:
        """All jobs of the run."""
        with self._lock:
            return FoundJobs(tuple(self._jobs.values()))

    def new_name(self) -> str:
        """A UUID."""
        return str(uuid.uuid4())

    def create(self, wanted: NewJob, name: str) -> MigrationJob:
        """A new job, which has its name as its UID."""
        job = MigrationJob(
            name,
            JobPhase.RUNNING.value,
            wanted.namespace,
            wanted.name,
            wanted.uid,
            ttl=wanted.ttl,
            mode=wanted.mode,
            uid=name,
            resource_version="1",
            delete_options=wanted.delete_options,
        )
        with self._lock:
            self._jobs[name] = job
        return job

    def find(self, name: str) -> MigrationJob | None:
        """The job of this name."""
        with self._lock:
            return self._jobs.get(name)

    def read(self, job: MigrationJob) -> MigrationJob | None:
        """`job` as it is now."""
        return self.find(job.name)

    def delete(self, job: MigrationJob) -> None:
        """Forgets the job."""
        with self._lock:
            self._jobs.pop(job.name, None)

    def save(self, old: MigrationJob, new: MigrationJob) -> MigrationJob | None:
        """The whole job."""
        with self._lock:
            known = self._jobs.get(old.name)
            if known is None or known.resource_version != old.resource_version:
                return None
            kept = replace(new, resource_version=str(int(known.resource_version) + 1))
            self._jobs[old.name] = kept
            return kept

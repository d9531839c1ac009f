"""What keeps jobs, wherever that is, and what keeps those that no later run has to know of.

Those are of evictions that hold no room: the run alone has them.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from descheduler.model.koordinator.migration_job import JobPhase, MigrationJob
from descheduler.plan.planned import PlannedRoom
from descheduler.transport.errors import ExchangeError


class NewJob(msgspec.Struct, frozen=True):
    """A job that is to be begun. `reason` and `plugin` say why and in whose name; `ttl` None is no time limit.

    `provider` holds its room. `successors` is by what its replacement is known, "" where that has none. `surge` is that
    of its workload, "" for none. Room is `held_on` this node, "" where the scheduler chooses one; `rooms` are held for
    pending pods.
    """

    namespace: str
    name: str
    uid: str
    mode: str
    reason: str
    plugin: str
    provider: str
    ttl: timedelta | None = None
    successors: str = ""
    surge: str = ""
    held_on: str = ""
    rooms: tuple[PlannedRoom, ...] = ()
    delete_options: dict[str, Any] = msgspec.field(default_factory=dict)


class FoundJobs(msgspec.Struct, frozen=True):
    """All jobs that there are, those that have ended included.

    `unread` are the UIDs of what may be a job and cannot be read. `notes` name what only looks like a job of this
    program and is left alone, a sentence each.
    """

    jobs: tuple[MigrationJob, ...] = ()
    unread: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


class Journal(Protocol):
    """The jobs of this program, and those that it carries out for others. All raise ExchangeError."""

    @property
    def kind(self) -> str:
        """The Kubernetes kind of the objects that hold the jobs."""

    def fail_broken(self, are_ours: Callable[[], bool]) -> tuple[str, ...]:
        """Ends those jobs of users found by `found` that cannot be decoded; what is wrong with each, by its name.

        `are_ours` tells whether this program looks after users' jobs.
        """

    def found(self) -> FoundJobs:
        """All jobs that there are, and what only looks like a job of this program."""

    def new_name(self) -> str:
        """A name for a new job, which no other job has."""

    def create(self, wanted: NewJob, name: str) -> MigrationJob:
        """A new job of this name, which is a new one.

        One whose creation had no clear answer is looked for. Raises CreationUnclear where it may exist all the same.
        """

    def find(self, name: str) -> MigrationJob | None:
        """The job of this name, None when there is none."""

    def read(self, job: MigrationJob) -> MigrationJob | None:
        """`job` as it is kept now, None when it is gone, or another job has its name."""

    def delete(self, job: MigrationJob) -> None:
        """Removes a job that has ended; it may be gone already."""

    def save(self, old: MigrationJob, new: MigrationJob) -> MigrationJob | None:
        """`new` as it is kept from now on, in place of `old`; None when that was changed or deleted meanwhile."""


def if_same(found: MigrationJob | None, job: MigrationJob) -> MigrationJob | None:
    """`found`, unless it is another object with the name of `job`, of which snapshots do not know the UID.

    Raises ExchangeError for what is not an object of a server.
    """
    if found is not None and not (found.uid and found.resource_version):
        raise ExchangeError(f"the answer to a request for job {job.name} is not a stored object")
    return found if found is not None and job.uid in ("", found.uid) else None


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

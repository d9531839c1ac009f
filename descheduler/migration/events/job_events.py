"""Events on PodMigrationJobs, which `kubectl describe podmigrationjob` shows.

Source: koordinator 1.8 `pkg/descheduler/controllers/migration/controller.go`, whose types, reasons and action these
have. Two things are told that koord-descheduler keeps to itself: every end has an Event, and so has the undoing of a
job whose run was stopped.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Literal

import msgspec

from descheduler.kube.events import PodEvent
from descheduler.migration.events.announce import EventSink
from descheduler.model.koordinator.migration_job import (
    MIGRATION_JOB,
    MIGRATION_JOB_API_VERSION,
    JobCondition,
    JobConditionType,
    JobPhase,
    JobReason,
    MigrationJob,
)

__all__ = ["JobAnnouncer", "JobEvent", "events_of"]

_ACTION = "Migrating"
_FAILED_EVICT = "FailedEvict"
_COMPLETE = "Complete"


class JobEvent(msgspec.Struct, frozen=True):
    """What an Event says."""

    type: Literal["Normal", "Warning"]
    reason: str
    note: str


class JobAnnouncer:
    """A job listener that writes Events. A refusal that repeats itself is told once."""

    def __init__(self, events: EventSink) -> None:
        self._events = events
        self._told: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def changed(self, old: MigrationJob | None, new: MigrationJob) -> None:
        """Writes what is new of the job."""
        if old is not None:
            for event in events_of(old, new):
                self._write(new, event)

    def refused(self, job: MigrationJob, why: str) -> None:
        """Writes that the pod could not be evicted."""
        with self._lock:
            is_new = (job.uid, why) not in self._told
            self._told.add((job.uid, why))
        if is_new:
            note = f"Failed evict Pod {_pod(job)} caused by {why}"
            self._write(job, JobEvent("Warning", _FAILED_EVICT, note))

    def _write(self, job: MigrationJob, event: JobEvent) -> None:
        self._events.record(
            PodEvent(
                "",
                job.name,
                job.uid,
                event.type,
                event.reason,
                _ACTION,
                event.note,
                MIGRATION_JOB,
                MIGRATION_JOB_API_VERSION,
            )
        )


def events_of(old: MigrationJob, new: MigrationJob) -> Iterator[JobEvent]:
    """What is to be told of a job that has become `new`, in the order in which it came about."""
    if new.reservation_name and not old.reservation_name:
        created = JobConditionType.RESERVATION_CREATED.value
        yield JobEvent("Normal", created, f'Successfully create Reservation "{new.reservation_name}"')
    for condition in new.conditions:
        known = next((each for each in old.conditions if each.type == condition.type), None)
        if known is None or (known.is_true, known.reason, known.message) != (
            condition.is_true,
            condition.reason,
            condition.message,
        ):
            yield from _of_condition(new, condition, was_asked=known is not None)
    if new.phase != old.phase:
        yield from _of_end(new)


def _of_condition(job: MigrationJob, condition: JobCondition, *, was_asked: bool) -> Iterator[JobEvent]:
    """Reservations that are created were told when their name was noted.

    A pod that is gone was evicted if it `was_asked` to leave before, as far as the job says.
    """
    match condition.type, condition.is_true, condition.reason:
        case JobConditionType.RESERVATION_CREATED | JobConditionType.RESERVATION_SCHEDULED, False, reason:
            yield JobEvent("Warning", reason, condition.message)
        case JobConditionType.RESERVATION_SCHEDULED, True, _:
            note = f'Assigned Reservation "{job.reservation_name}" to node "{job.node_name}"'
            yield JobEvent("Normal", condition.type, note)
        case JobConditionType.EVICTION, False, JobReason.EVICTING:
            yield JobEvent("Normal", condition.reason, f"Try to evict Pod {_pod(job)}")
        case JobConditionType.EVICTION, True, _:
            yield JobEvent(
                "Normal",
                JobReason.EVICT_COMPLETE.value,
                f"Pod {_pod(job)} {'has been evicted' if was_asked else 'is gone'}",
            )


def _of_end(job: MigrationJob) -> Iterator[JobEvent]:
    match job.phase:
        case JobPhase.SUCCEEDED:
            yield JobEvent("Normal", _COMPLETE, job.message or _success(job))
        case JobPhase.FAILED:
            yield JobEvent("Warning", job.reason, job.message)
        case JobPhase.ABORTED:
            yield JobEvent("Normal", job.phase, job.message)


def _success(job: MigrationJob) -> str:
    if job.replacement is None:
        return f"Pod {_pod(job)} has been evicted"
    return f'Bind Pod "{job.replacement.namespace}/{job.replacement.name}" in Reservation "{job.reservation_name}"'


def _pod(job: MigrationJob) -> str:
    return f'"{job.pod_namespace}/{job.pod_name}"'

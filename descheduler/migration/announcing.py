"""Tells the cluster what became of evictions and of jobs, by Events.

One Event a pod is worded as kubernetes-sigs/descheduler 0.36 does. Events on PodMigrationJobs, which `kubectl describe
podmigrationjob` shows, have the types, reasons and action of koordinator 1.8
`pkg/descheduler/controllers/migration/controller.go`. Two things are told that koord-descheduler keeps to itself: every
end has an Event, and so has the undoing of a job whose run was stopped.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Literal, Protocol

import msgspec
from msgspec.structs import replace

from descheduler.kube.events import PodEvent
from descheduler.model.koordinator.migration_job import (
    MIGRATION_JOB,
    MIGRATION_JOB_API_VERSION,
    JobCondition,
    JobConditionType,
    JobPhase,
    JobReason,
    MigrationJob,
)
from descheduler.model.pod import Owner
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction

_ACTION = "Descheduled"
_SENDER = "sigs.k8s.io/descheduler"


class EventSink(Protocol):
    """Takes events from any thread without blocking; `descheduler.kube.events.EventRecorder` is the real one."""

    def record(self, event: PodEvent) -> None:
        """Queues the event."""


class EvictionAnnouncer:
    """An outcome sink that writes a Normal event for each eviction, about the pod and about its controller.

    When `failures` is true it also writes a Warning for each one that was refused, failed or met a limit. Nothing is
    said of pods that left by themselves, were handed over, whose turn never came, or whose fate is unknown.
    """

    def __init__(self, events: EventSink, *, failures: bool) -> None:
        self._events = events
        self._failures = failures

    def planned(self, num_evictions: int) -> None:
        """Nothing."""

    def record(self, outcome: Outcome) -> None:
        """Writes the event that the outcome calls for, if any."""
        if (event := _event(outcome, failures=self._failures)) is not None:
            self._events.record(event)
        if outcome.kind is OutcomeKind.EVICTED and event is not None and outcome.eviction.controller is not None:
            self._events.record(_about_controller(event, outcome.eviction.controller))

    def doubted(self, eviction: PlannedEviction, why: str, at_most_seconds: float) -> None:
        """Nothing: a wait is of no interest to a pod's owner."""

    def turned_away(self, seconds: float) -> None:
        """Nothing."""


def _event(outcome: Outcome, *, failures: bool) -> PodEvent | None:
    pod = outcome.eviction
    note = f"pod eviction from {pod.node} node by {_SENDER}"
    if outcome.is_unconfirmed:
        return None
    if outcome.kind is OutcomeKind.EVICTED:
        reason = pod.plugin or "NotSet"
        return PodEvent(pod.namespace, pod.name, pod.uid, "Normal", reason, _ACTION, note)
    failed = outcome.kind in {OutcomeKind.REFUSED, OutcomeKind.FAILED} or outcome.code is OutcomeCode.LIMIT
    if failed and failures:
        text = f"{note} failed: {outcome.message}"
        return PodEvent(pod.namespace, pod.name, pod.uid, "Warning", "EvictionFailed", _ACTION, text)
    return None


def _about_controller(event: PodEvent, controller: Owner) -> PodEvent:
    """The same for whoever looks at the workload, whose pods come and go."""
    return replace(
        event,
        name=controller.name,
        uid=controller.uid,
        kind=controller.kind,
        api_version=controller.api_version,
        note=f"pod {event.name}: {event.note}",
    )


_JOB_ACTION = "Migrating"
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
                _JOB_ACTION,
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

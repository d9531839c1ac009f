"""Koordinator's PodMigrationJob: which pod is to move, how, and how far that has come."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from descheduler.model.koordinator.eviction_annotations import PASSED_ARBITRATION_ANNOTATION, TARGET_NODE_ANNOTATION
from descheduler.model.koordinator.reservation import ObjectReference
from descheduler.model.pod import EVICT_ANNOTATION
from descheduler.model.text.duration import later

MIGRATION_JOB, MIGRATION_JOB_API_VERSION = "PodMigrationJob", "scheduling.koordinator.sh/v1alpha1"
MIGRATION_JOB_KIND = "PodMigrationJob.scheduling.koordinator.sh"
"""Its key in the table of kinds."""


class JobPhase(StrEnum):
    """`status.phase`; a job that was not looked at yet has none."""

    NONE = ""
    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    ABORTED = "Aborted"


class JobReason(StrEnum):
    """`status.reason`, and that of conditions."""

    NONE = ""
    TIMEOUT = "Timeout"
    FAILED_CREATE_RESERVATION = "FailedCreateReservation"
    RESERVATION_EXPIRED = "ReservationExpired"
    UNSCHEDULABLE = "Unschedulable"
    FORBIDDEN = "ForbiddenMigratePod"
    MISSING_POD = "MissingPod"
    MISSING_RESERVATION = "MissingReservation"
    INVALID_POD = "InvalidPodRef"
    EVICTING = "Evicting"
    EVICT_COMPLETE = "EvictComplete"
    WAIT_FOR_BINDING = "WaitForPodBindReservation"
    WAIT_FOR_READY = "WaitForBoundPodReady"
    SURGE_FAILED = "SurgeFailed"
    """This program's own, as the condition Surged is."""
    INVALID_JOB = "InvalidJob"
    """This program's own: the job cannot be decoded."""


class JobConditionType(StrEnum):
    """What has come true of a job, or is about to."""

    RESERVATION_CREATED = "ReservationCreated"
    RESERVATION_SCHEDULED = "ReservationScheduled"
    EVICTION = "Eviction"
    POD_SCHEDULED = "PodScheduled"
    POD_BOUND_RESERVATION = "PodBoundReservation"
    RESERVATION_BOUND = "ReservationBound"
    BOUND_POD_READY = "BoundPodReady"
    SURGED = "Surged"


class JobMode(StrEnum):
    """`spec.mode`: whether a Reservation holds the room before the pod is evicted."""

    RESERVATION_FIRST = "ReservationFirst"
    EVICT_DIRECTLY = "EvictDirectly"


class JobStatus(NamedTuple):
    """The three words by which people follow a job: phase, type of the latest condition, and its reason."""

    phase: JobPhase
    condition: str = ""
    reason: JobReason | None = None


class JobCondition(msgspec.Struct, frozen=True, gc=False):
    """One entry of `status.conditions`; words may be newer than those known here. Times are aware UTC."""

    type: str
    is_true: bool
    reason: str = ""
    message: str = ""
    probed_at: datetime | None = None
    transitioned_at: datetime | None = None


FINAL_PHASES = frozenset({JobPhase.SUCCEEDED, JobPhase.FAILED, JobPhase.ABORTED})
_WAITING_PHASES = frozenset({JobPhase.NONE, JobPhase.PENDING})


class MigrationJob(msgspec.Struct, frozen=True):
    """One PodMigrationJob. The words of `phase` and `mode` may be newer than those known here.

    `mode` is empty where the controller's default counts; without `ttl`, or at 0, the job has no time limit.
    `annotations` are those that some rule reads. `pod_uid` is empty where any pod of that name is meant. `condition`
    is `status.status`: the type of the latest condition, `Complete` at the end. `reservation_name` is that of the
    Reservation it uses, and `template` the JSON of one that a user wants. `replacement` is the pod that came.
    `owned_by` is kind and name of its first owner reference, "" without one.
    """

    name: str
    phase: str
    pod_namespace: str
    pod_name: str
    pod_uid: str
    created_at: datetime | None = None
    is_paused: bool = False
    ttl: timedelta | None = None
    mode: str = ""
    annotations: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}
    uid: str = ""
    resource_version: str = ""
    is_terminating: bool = False
    reservation_name: str = ""
    template: Mapping[str, Any] = {}
    delete_options: Mapping[str, Any] = {}
    condition: str = ""
    reason: str = ""
    message: str = ""
    conditions: tuple[JobCondition, ...] = ()
    node_name: str = ""
    replacement: ObjectReference | None = None
    owned_by: str = ""

    @property
    def is_live(self) -> bool:
        """Whether it waits for its turn, or has begun and not ended."""
        return self.is_waiting or self.is_under_way

    @property
    def is_waiting(self) -> bool:
        """Whether arbitration has not admitted it yet."""
        return self.phase in _WAITING_PHASES and not self.has_passed

    @property
    def is_under_way(self) -> bool:
        """Whether its pod moves, or is about to: arbitration admitted it."""
        return self.phase == JobPhase.RUNNING or (self.phase in _WAITING_PHASES and self.has_passed)

    @property
    def has_passed(self) -> bool:
        """Whether arbitration, in whichever run, admitted it."""
        return self.annotations.get(PASSED_ARBITRATION_ANNOTATION) == "true"

    @property
    def held_on(self) -> str:
        """The node on which its room is to be held, "" where the scheduler chooses one; a user may write any text."""
        return self.annotations.get(TARGET_NODE_ANNOTATION, "")

    @property
    def ignores_object_limiters(self) -> bool:
        """Whether it goes however often its workload was evicted lately; the annotation's value is irrelevant."""
        return EVICT_ANNOTATION in self.annotations

    @property
    def has_ended(self) -> bool:
        """Whether nothing more happens to it."""
        return self.phase in FINAL_PHASES

    def found(self, condition: JobConditionType) -> JobCondition | None:
        """Its condition of this type, if it has one."""
        return next((known for known in self.conditions if known.type == condition), None)

    def has(self, condition: JobConditionType) -> bool:
        """Whether this has come true."""
        found = self.found(condition)
        return found is not None and found.is_true

    def is_over_time(self, now: datetime) -> bool:
        """Whether its time limit has passed at `now`; that of a paused job never does."""
        return not self.is_paused and self.ends_at is not None and now >= self.ends_at

    @property
    def ends_at(self) -> datetime | None:
        """When its time limit passes; None without one."""
        if self.ttl is None or self.ttl <= timedelta(0) or self.created_at is None:
            return None
        return later(self.created_at, self.ttl)

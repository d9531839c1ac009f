"""The status of a job as it changes: conditions, and the words in which people read the latest of them.

Source: koordinator 1.8 `pkg/descheduler/controllers/migration/util/job.go`.
"""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import replace

from descheduler.migration.job.steps import ReleaseRoom, Step
from descheduler.model.koordinator.migration_job import (
    JobCondition,
    JobConditionType,
    JobMode,
    JobPhase,
    JobReason,
    MigrationJob,
)
from descheduler.model.pod import Pod

COMPLETE = "Complete"
"""`status.status` of a job that succeeded."""


def with_condition(
    job: MigrationJob,
    condition: JobConditionType,
    is_true: bool,
    now: datetime,
    reason: JobReason = JobReason.NONE,
    message: str = "",
    *,
    probed_at: datetime | None = None,
) -> MigrationJob:
    """`job` with this condition, and with its words those of the job; the very same job where nothing is new.

    The time of transition stays where the condition is as true as it was. `probed_at` is by default `now`.
    """
    old = job.found(condition)
    if old is not None and (old.is_true, old.reason, old.message) == (is_true, reason, message):
        return job
    since = old.transitioned_at if old is not None and old.is_true == is_true else now
    new = JobCondition(
        type=condition.value,
        is_true=is_true,
        reason=reason.value,
        message=message,
        probed_at=probed_at or now,
        transitioned_at=since,
    )
    kept = [new if known is old else known for known in job.conditions] + ([new] if old is None else [])
    return replace(job, conditions=tuple(kept), condition=condition.value, reason=reason.value, message=message)


def without_condition(job: MigrationJob, condition: JobConditionType) -> MigrationJob:
    """`job` of which this was never said."""
    return replace(job, conditions=tuple(known for known in job.conditions if known.type != condition))


def failed(job: MigrationJob, reason: JobReason, message: str) -> MigrationJob:
    """`job` at its end without success; its latest condition stays, as what it failed in."""
    return replace(job, phase=JobPhase.FAILED.value, reason=reason.value, message=message)


def aborted(job: MigrationJob, message: str) -> MigrationJob:
    """`job` at its end because its run could not go on, with nothing evicted."""
    return replace(job, phase=JobPhase.ABORTED.value, message=message)


def succeeded(job: MigrationJob, message: str = "") -> MigrationJob:
    """`job` at its good end."""
    return replace(job, phase=JobPhase.SUCCEEDED.value, condition=COMPLETE, reason="", message=message)


def may_hold_room(job: MigrationJob, default_mode: str) -> bool:
    """Whether room may have been asked for, whatever the job knows of that: a creation may have had no clear answer."""
    return bool(job.reservation_name) or (job.mode or default_mode) != JobMode.EVICT_DIRECTLY


def give_up(job: MigrationJob, reason: JobReason, message: str) -> Step:
    """The end without success; what is held is given back first, so that a run that is killed does it again."""
    return ReleaseRoom(failed(job, reason, message))


def is_stuck(job: MigrationJob, replacement: Pod | None, since: datetime) -> bool:
    """Whether there is a replacement since then, the pod was gone by then too, and still there is no node for it.

    The replacement that a surge brings has no pod to wait for.
    """
    if replacement is None or replacement.node_name or replacement.created_at is None:
        return False
    gone = job.found(JobConditionType.EVICTION)
    is_gone = gone is None or gone.transitioned_at is None or gone.transitioned_at <= since
    return is_gone and replacement.created_at <= since

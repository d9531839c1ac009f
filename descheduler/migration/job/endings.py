"""How jobs end that cannot go on."""

from __future__ import annotations

from datetime import datetime

from descheduler.migration.job.conditions import failed
from descheduler.migration.job.steps import ReleaseRoom, Step
from descheduler.model.koordinator.migration_job import JobConditionType, JobMode, JobReason, MigrationJob
from descheduler.model.pod import Pod

__all__ = ["give_up", "is_stuck", "may_hold_room"]


def may_hold_room(job: MigrationJob, default_mode: str) -> bool:
    """Whether room may have been asked for, whatever the job knows of that: a creation may have had no clear answer."""
    return bool(job.reservation_name) or (job.mode or default_mode) != JobMode.EVICT_DIRECTLY


def give_up(job: MigrationJob, reason: JobReason, message: str) -> Step:
    """The end without success; what is held is given back first, so that a run that is killed does it again."""
    return ReleaseRoom(failed(job, reason, message))


def is_stuck(job: MigrationJob, replacement: Pod | None, since: datetime) -> bool:
    """Whether there is a replacement since then, the pod was gone by then too, and still there is no node for it.

    The replacement that a surge brings has nobody to wait for.
    """
    if replacement is None or replacement.node_name or replacement.created_at is None:
        return False
    gone = job.found(JobConditionType.EVICTION)
    is_gone = gone is None or gone.transitioned_at is None or gone.transitioned_at <= since
    return is_gone and replacement.created_at <= since

"""What earlier runs have left: jobs to be finished, jobs to be undone, and room that nobody wants any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import partial

import msgspec

from descheduler.kube.errors import ApiError, KindAbsent, KindForbidden
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.controller.job_keeper import JobKeeper
from descheduler.migration.controller.task import JobTask
from descheduler.migration.jobs.conditions import aborted
from descheduler.migration.journal.journal import Journal
from descheduler.migration.pods import read_pod
from descheduler.migration.providers.provider import ReservationProvider
from descheduler.model.koordinator.eviction_annotations import REASON_ANNOTATION, TRIGGER_ANNOTATION
from descheduler.model.koordinator.migration_job import JobConditionType, JobPhase, MigrationJob
from descheduler.model.pod import Pod
from descheduler.plan.outcome import Outcome
from descheduler.plan.planned import PlannedEviction

__all__ = ["Adopted", "adopt", "adopted_task"]

KEPT_AFTER_END = timedelta(minutes=5)
"""How long a job stays to be read once its time limit has passed, as with koord-descheduler."""
_KEPT_WITHOUT_LIMIT = timedelta(minutes=30)
_UNDONE = "the run that began it ended before the pod was evicted; the next run decides again"


class Adopted(msgspec.Struct, frozen=True):
    """`unfinished` jobs have their pod evicted, and go on: `num_finished` of them to a good end. `undone` ones had not
    come so far. `outcomes` are those of the unfinished ones.

    `swept` names what held room for jobs that are no more, and was removed; `removed` counts jobs that ended long ago.
    `broken` are jobs of users that cannot be decoded and have failed by that, a sentence each.
    """

    unfinished: tuple[MigrationJob, ...] = ()
    undone: tuple[MigrationJob, ...] = ()
    swept: tuple[str, ...] = ()
    num_removed: int = 0
    num_finished: int = 0
    outcomes: tuple[Outcome, ...] = ()
    broken: tuple[str, ...] = ()


def adopt(
    objects: ObjectCalls,
    journal: Journal,
    keeper: JobKeeper,
    providers: Iterable[ReservationProvider],
    *,
    is_own: Callable[[MigrationJob], bool],
    is_users: Callable[[MigrationJob], bool],
    now: datetime,
) -> Adopted:
    """Undoes what can be undone of the jobs that are this program's own, and names those that have to be finished.

    What is paused is not finished before somebody lets it go on.
    A job whose pod has left, or was asked to, is finished: the room that is held for its replacement is needed. One
    that `is_users` is never undone once it was begun. Raises KubeError; what was undone by then stays undone, and may
    be asked for again.
    """
    jobs = journal.jobs()
    own = [job for job in jobs if is_own(job)]
    unfinished = [job for job in jobs if is_users(job) and job.phase == JobPhase.RUNNING]
    undone: list[MigrationJob] = []
    for job in own:
        if job.has_ended or job.is_terminating:
            continue
        if _has_left(objects, job):
            unfinished.append(job)
        else:
            kept = keeper.undo(job, partial(aborted, message=_UNDONE))
            if kept is not None and kept.found(JobConditionType.EVICTION) is not None and not kept.has_ended:
                unfinished.append(kept)
            else:
                undone.append(job)
    for job in own:
        if job.has_ended and job.phase != JobPhase.SUCCEEDED:
            _take_back_surge(keeper, job)
    over = [job for job in own if job.has_ended and _is_over(job, now)]
    for job in over:
        journal.delete(job)
    live = {job.uid for job in jobs if not job.has_ended} - {job.uid for job in undone}
    swept = tuple(name for provider in providers for name in _sweep(provider, live))
    going_on = tuple(job for job in unfinished if not job.is_paused)
    return Adopted(going_on, tuple(undone), swept, len(over))


def _sweep(provider: ReservationProvider, live: set[str]) -> tuple[str, ...]:
    try:
        return provider.sweep(live)
    except (KindAbsent, KindForbidden):  # what is not there, or may not be listed, was not created
        return ()


def _take_back_surge(keeper: JobKeeper, job: MigrationJob) -> None:
    """For a job that has ended: a call of it that got no answer may have had its effect since."""
    try:
        keeper.take_back_surge(job)
    except ApiError as error:
        if error.status_code != 403:  # whoever lost the right since cannot be helped, and the run can do without
            raise


def adopted_task(job: MigrationJob, pod: Pod | None = None, *, profile: str = "") -> JobTask:
    """The task of finishing `job`, which is no eviction of a plan, at the pace of `profile`, else of the whole run.

    `pod` is its pod, where that is known.
    """
    grace_period_seconds = job.delete_options.get("gracePeriodSeconds")
    eviction = PlannedEviction(
        job.pod_namespace,
        job.pod_name,
        job.pod_uid or ("" if pod is None else pod.uid) or job.uid,
        node="" if pod is None else pod.node_name,
        profile=profile,
        plugin=job.annotations.get(TRIGGER_ANNOTATION, ""),
        reason=job.annotations.get(REASON_ANNOTATION, ""),
        grace_period_seconds=grace_period_seconds if isinstance(grace_period_seconds, int) else None,
        controller=None if pod is None else pod.controller,
        labels={} if pod is None else pod.labels,
    )
    return JobTask(eviction, job=job, is_adopted=True)


def _has_left(objects: ObjectCalls, job: MigrationJob) -> bool:
    """Whether its pod was evicted, or may have been by a run that could not say so any more."""
    if job.found(JobConditionType.EVICTION) is not None:
        return True
    if not (job.pod_namespace and job.pod_name and job.pod_uid):
        return False
    pod = read_pod(objects, job.pod_namespace, job.pod_name)
    return pod is None or pod.uid != job.pod_uid or pod.deleted_at is not None


def _is_over(job: MigrationJob, now: datetime) -> bool:
    kept = _KEPT_WITHOUT_LIMIT if not job.ttl else job.ttl + KEPT_AFTER_END
    return job.created_at is not None and now - job.created_at >= kept

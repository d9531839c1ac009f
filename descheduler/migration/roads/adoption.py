"""What earlier runs have left: jobs to be finished, jobs to be undone, and room that no job uses any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import partial

import msgspec

from descheduler.kube.errors import ApiError, KindAbsent, KindForbidden
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.job.conditions import aborted
from descheduler.migration.pods import read_pod
from descheduler.migration.roads.job_task import JobTask
from descheduler.migration.roads.keeper import JobKeeper
from descheduler.migration.room.provider import ReservationProvider
from descheduler.migration.room.sweeping import KnownJobs, Swept, noting_forbidden
from descheduler.migration.store.journal import FoundJobs, Journal
from descheduler.model.koordinator.eviction_annotations import (
    CREATED_BY_ANNOTATION,
    REASON_ANNOTATION,
    TRIGGER_ANNOTATION,
)
from descheduler.model.koordinator.migration_job import JobConditionType, JobPhase, MigrationJob
from descheduler.model.pod import Pod
from descheduler.model.text.printable import clipped
from descheduler.plan.outcome import Outcome
from descheduler.plan.planned import PlannedEviction

KEPT_AFTER_END = timedelta(minutes=5)
"""How long a job stays to be read once its time limit has passed, as with koord-descheduler."""
_KEPT_WITHOUT_LIMIT = timedelta(minutes=30)
_LONGEST_REASON = 1_000
_LONGEST_GRACE_SECONDS = 2**31 - 1
"""68 years. A larger number is no number of seconds to anybody, and beyond 64 bits the API server refuses the call."""
_UNDONE = "the run that began it ended before the pod was evicted; the next run decides again"


class Adopted(msgspec.Struct, frozen=True):
    """`unfinished` jobs have their pod evicted, and go on: `num_finished` of them to a good end. `undone` ones had not
    come so far. `outcomes` are those of the unfinished ones.

    `swept` names what held room for jobs that are no more, and was removed. `notes` name what was left alone because it
    only looks like what this program makes, and what could not be removed for want of a right.
    `broken` are jobs of users that cannot be decoded and have failed by that, a sentence each.
    """

    unfinished: tuple[MigrationJob, ...] = ()
    undone: tuple[MigrationJob, ...] = ()
    swept: tuple[str, ...] = ()
    num_finished: int = 0
    outcomes: tuple[Outcome, ...] = ()
    notes: tuple[str, ...] = ()
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

    A paused job is not finished before its user resumes it.
    A job whose pod has left, or was asked to, is finished: the room that is held for its replacement is needed. One
    that `is_users` and has not come so far is left as it is: whether it was judged is unknown. Raises ExchangeError;
    what was undone by then stays undone, and may be asked for again.
    """
    found, notes = journal.found(), list[str]()
    own = [job for job in found.jobs if is_own(job)]
    running = [job for job in found.jobs if job.phase == JobPhase.RUNNING and is_users(job)]
    unfinished = [job for job in running if _has_left(objects, job)]
    undone: list[MigrationJob] = []
    for job in own:
        if job.has_ended or job.is_terminating:
            continue
        with noting_forbidden(notes, f"the job {job.name} of an earlier run could not be undone"):
            if (left := _undo_unless_left(objects, keeper, job)) is None:
                undone.append(job)
            else:
                unfinished.append(left)
    for job in own:
        if job.has_ended and job.phase != JobPhase.SUCCEEDED:
            _take_back_surge(keeper, job)
    for job in own:
        if job.has_ended and _is_over(job, now):
            with noting_forbidden(notes, f"the job {job.name} of an earlier run could not be removed"):
                journal.delete(job)
    known = _known(found, undone, is_own)
    swept = [_sweep(provider, known) for provider in providers]
    going_on = tuple(job for job in unfinished if not job.is_paused)
    removed = tuple(name for each in swept for name in each.removed)
    told = (*found.notes, *notes, *(note for each in swept for note in each.notes))
    return Adopted(going_on, tuple(undone), removed, notes=told)


def _undo_unless_left(objects: ObjectCalls, keeper: JobKeeper, job: MigrationJob) -> MigrationJob | None:
    """The job as it is kept, which is to be finished, where its pod has left; None where it was undone."""
    if _has_left(objects, job):
        return job
    kept = keeper.undo(job, partial(aborted, message=_UNDONE))
    has_left = kept is not None and kept.found(JobConditionType.EVICTION) is not None and not kept.has_ended
    return kept if has_left else None


def _known(found: FoundJobs, undone: list[MigrationJob], is_own: Callable[[MigrationJob], bool]) -> KnownJobs:
    """What is known of the room of each job, once the `undone` ones have ended; what cannot be read may need its."""
    ended_now = {job.uid for job in undone}
    over = {job.uid: job for job in found.jobs if job.has_ended or job.uid in ended_now}
    live = {job.uid for job in found.jobs} - over.keys()
    foreign = {uid for uid, job in over.items() if CREATED_BY_ANNOTATION in job.annotations and not is_own(job)}
    return KnownJobs(live | found.unread, over, foreign)


def _sweep(provider: ReservationProvider, known: KnownJobs) -> Swept:
    try:
        return provider.sweep(known)
    except (KindAbsent, KindForbidden):  # what is not there, or may not be listed, was not created
        return Swept()


def _take_back_surge(keeper: JobKeeper, job: MigrationJob) -> None:
    """For a job that has ended: a call of it that got no answer may have had its effect since."""
    try:
        keeper.take_back_surge(job)
    except ApiError as error:
        if not error.is_forbidden:  # whoever lost the right since cannot be helped, and the run can do without
            raise


def adopted_task(
    job: MigrationJob, pod: Pod | None = None, *, profile: str = "", finishes_only: bool = False
) -> JobTask:
    """The task of finishing `job`, which is no eviction of a plan, at the pace of `profile`, else of the whole run.

    `pod` is its pod, where that is known. For one that `finishes_only` no pod is evicted any more. What a user writes
    into annotations is no plugin's name.
    """
    is_own = CREATED_BY_ANNOTATION in job.annotations
    eviction = PlannedEviction(
        job.pod_namespace,
        job.pod_name,
        job.pod_uid or ("" if pod is None else pod.uid) or job.uid,
        node="" if pod is None else pod.node_name,
        profile=profile,
        plugin=job.annotations.get(TRIGGER_ANNOTATION, "") if is_own else "",
        reason=clipped(job.annotations.get(REASON_ANNOTATION, ""), _LONGEST_REASON),
        grace_period_seconds=_grace_period_seconds(job),
        controller=None if pod is None else pod.controller,
        labels={} if pod is None else pod.labels,
        users_job="" if is_own else job.name,
    )
    return JobTask(eviction, job=job, is_adopted=True, finishes_only=finishes_only)


def _grace_period_seconds(job: MigrationJob) -> int | None:
    """As its `deleteOptions` say, where that is a number that the API server can read."""
    stated = job.delete_options.get("gracePeriodSeconds")
    is_number = isinstance(stated, int) and not isinstance(stated, bool) and abs(stated) <= _LONGEST_GRACE_SECONDS
    return stated if is_number else None


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

"""Arbitration: which of the waiting PodMigrationJobs are started now, and what becomes of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.migrating_pods import MigratingPods
from descheduler.eviction.migration_controller.object_limiter import ObjectLimiter
from descheduler.eviction.migration_controller.pod_checks import PodChecks
from descheduler.model.koordinator.classes import Importance, importance
from descheduler.model.koordinator.eviction_annotations import CREATED_BY_ANNOTATION
from descheduler.model.koordinator.migration_job import (
    JobConditionType,
    JobMode,
    JobPhase,
    JobReason,
    JobStatus,
    MigrationJob,
)
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Verdict

PodsOfJobs = Mapping[str, Pod]
"""Name of a job → the pod that it is about; no entry for one whose pod is not there."""
_TO_JUDGE = frozenset({JobPhase.NONE, JobPhase.PENDING, JobPhase.RUNNING})


class JobOutcome(Enum):
    """What arbitration makes of one job."""

    STARTED = "started"
    """Its pod is to be moved now."""
    HELD = "held"
    """Admitted, and counted as migrating, but paused, or made to wait by `objectLimiters`."""
    WAITING = "waiting"
    """Asked again in the next run."""
    REFUSED = "refused"
    """The pod may not be moved."""
    MISSING = "missing"
    """There is no such pod."""
    TIMED_OUT = "timedOut"
    """Its time limit passed before its turn came."""


class JobDecision(msgspec.Struct, frozen=True):
    """The outcome of one job, and the refusal behind it, if any; `pod` is None while it is missing or timed out.

    `status` is what the status of the job says when the step that follows has been taken; None: it is left as it is.
    """

    job: MigrationJob
    outcome: JobOutcome
    pod: Pod | None = None
    verdict: Verdict = ACCEPTED
    status: JobStatus | None = None

    @property
    def has_passed(self) -> bool:
        """Whether Koordinator annotates the job as admitted, which it also does to fail a job without a pod."""
        return self.outcome in (JobOutcome.STARTED, JobOutcome.HELD, JobOutcome.MISSING)


def jobs_to_judge(snapshot: Snapshot) -> tuple[MigrationJob, ...]:
    """The jobs that ask for an eviction which has not begun, whatever phase somebody has given them.

    A run that was killed leaves jobs in phase Running; anybody who may write a status can do so as well. A job whose
    pod is about to go by now has its eviction begun.
    """
    asking = (job for job in snapshot.migration_jobs if job.phase in _TO_JUDGE and not job.is_terminating)
    found = [job for job in asking if job.found(JobConditionType.EVICTION) is None]
    leaving = {pod.uid for pod in snapshot.pods if pod.deleted_at is not None} if found else set()
    return tuple(job for job in found if job.phase != JobPhase.RUNNING or job.pod_uid not in leaving)


def is_unclaimed(job: MigrationJob) -> bool:
    """Whether no program claims the job by annotation, as none claims jobs of users."""
    return CREATED_BY_ANNOTATION not in job.annotations


def arbitrate(
    jobs: Iterable[MigrationJob], view: ClusterView, args: MigrationControllerArgs, *, now: datetime
) -> tuple[JobDecision, ...]:
    """A decision for each of `jobs` that waits, in the order in which they were made.

    Jobs under way count as migrating, and so do each job that is admitted and what `view` has booked. Jobs
    that wait and jobs that are done do not. Source: koordinator 1.8
    `pkg/descheduler/controllers/migration/arbitrator/arbitrator.go`, ticked until nothing changes, with three of its
    defects left out: time limits hold while a job waits, a UID that the job states is that of its pod, and jobs that
    were admitted before a restart stay so.
    """
    known = list(jobs)
    waiting = [job for job in known if job.is_waiting]
    if not waiting:
        return ()
    migrating = MigratingPods(view, [job for job in known if job.is_under_way])
    arbitration = _Arbitration(view, args, migrating, now)
    pods = _pods_of(waiting, view)
    return tuple(arbitration.decide(job, pods.get(job.name)) for job in in_order(waiting, pods, migrating))


class _Arbitration:
    """One pass over the waiting jobs."""

    def __init__(
        self, view: ClusterView, args: MigrationControllerArgs, migrating: MigratingPods, now: datetime
    ) -> None:
        self._default_mode = args.default_job_mode
        self._migrating = migrating
        self._checks = PodChecks(args, view.snapshot, migrating)
        self._limiter = ObjectLimiter(args, view.snapshot)
        self._now = now

    def decide(self, job: MigrationJob, pod: Pod | None) -> JobDecision:
        """The decision about the next job. The pod of an admitted job counts as migrating from then on."""
        if job.is_over_time(self._now):
            return JobDecision(job, JobOutcome.TIMED_OUT, status=_failed(JobReason.TIMEOUT))
        if pod is None:
            return _without_pod(job)
        refusal = self._checks.non_retryable(pod)
        if not refusal.is_accepted:
            return JobDecision(job, JobOutcome.REFUSED, pod, refusal, _failed(JobReason.FORBIDDEN))
        refusal = self._checks.retryable(pod)
        if not refusal.is_accepted:
            return JobDecision(job, JobOutcome.WAITING, pod, refusal)
        self._migrating.move(pod)
        return self._let_go(job, pod)

    def _let_go(self, job: MigrationJob, pod: Pod) -> JobDecision:
        """A paused job gets no further; one that `objectLimiters` hold runs, and does nothing yet."""
        if job.is_paused:
            return JobDecision(job, JobOutcome.HELD, pod)
        limit = ACCEPTED if job.ignores_object_limiters else self._limiter.verdict(pod)
        if not limit.is_accepted:
            return JobDecision(job, JobOutcome.HELD, pod, limit, JobStatus(JobPhase.RUNNING))
        self._limiter.count(pod)
        return JobDecision(job, JobOutcome.STARTED, pod, status=self._first_step(job))

    def _first_step(self, job: MigrationJob) -> JobStatus:
        if (job.mode or self._default_mode) == JobMode.EVICT_DIRECTLY:
            return JobStatus(JobPhase.RUNNING, "Eviction", JobReason.EVICTING)
        return JobStatus(JobPhase.RUNNING, "ReservationCreated")


def _pods_of(jobs: Iterable[MigrationJob], view: ClusterView) -> PodsOfJobs:
    """The pods that are there under the name, and the UID where one is stated, that the jobs give."""
    wanted: dict[tuple[str, str], list[MigrationJob]] = {}
    for job in jobs:
        wanted.setdefault((job.pod_namespace, job.pod_name), []).append(job)
    found = ((job, pod) for pod in view.snapshot.pods for job in wanted.get((pod.namespace, pod.name), ()))
    return {job.name: pod for job, pod in found if job.pod_uid in ("", pod.uid)}


def _without_pod(job: MigrationJob) -> JobDecision:
    """A paused job is not failed for want of a pod, since the pod of a paused job is not looked up."""
    if job.is_paused:
        return JobDecision(job, JobOutcome.WAITING)
    reason = JobReason.MISSING_POD if job.pod_namespace and job.pod_name else JobReason.INVALID_POD
    return JobDecision(job, JobOutcome.MISSING, status=_failed(reason))


def _failed(reason: JobReason) -> JobStatus:
    return JobStatus(JobPhase.FAILED, reason=reason)


def in_order(jobs: Iterable[MigrationJob], pods: PodsOfJobs, migrating: MigratingPods) -> list[MigrationJob]:
    """`jobs` as Koordinator goes through them, which sorts four times and stably, the last time most significantly.

    Newer jobs go first; before that jobs without a pod, then those of less important pods; jobs for pods of one batch
    Job are adjacent, at the best place among them; and batch Jobs with most pods on the move come first, to get them
    over with. Ties go by name. Source: koordinator 1.8 `pkg/descheduler/controllers/migration/arbitrator/sort.go`.
    """
    by_age = sorted(jobs, key=lambda job: (-_second_created(job), job.name))
    by_pod = sorted(by_age, key=lambda job: _importance(pods.get(job.name)))
    adjacent = _adjacent(by_pod, pods)
    return sorted(adjacent, key=lambda job: -migrating.num_of_controller(_batch_job(job, pods)))


def _second_created(job: MigrationJob) -> int:
    return int(job.created_at.timestamp()) if job.created_at is not None else 0


def _importance(pod: Pod | None) -> tuple[bool, Importance | None]:
    return (False, None) if pod is None else (True, importance(pod))


def _adjacent(jobs: list[MigrationJob], pods: PodsOfJobs) -> list[MigrationJob]:
    """`jobs` with each one moved up to the first of its batch Job."""
    first: dict[str, int] = {}
    places = {job.name: first.setdefault(_batch_job(job, pods) or job.name, at) for at, job in enumerate(jobs)}
    return sorted(jobs, key=lambda job: places[job.name])


def _batch_job(job: MigrationJob, pods: PodsOfJobs) -> str:
    """UID of the batch Job that controls the pod of `job`, else ""."""
    pod = pods.get(job.name)
    controller = None if pod is None else pod.controller
    return controller.uid if controller is not None and controller.kind == "Job" else ""

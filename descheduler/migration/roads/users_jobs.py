"""PodMigrationJobs that users have created: which of them may evict their pod now, and what became of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.checks.limits import EvictionCounters, RunLimits
from descheduler.eviction.checks.scope import Scope
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.migration_controller.arbitration import JobDecision, JobOutcome, arbitrate
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.kube.errors import ApiError
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.dispatch.judgement import POD_GONE
from descheduler.migration.roads.adoption import adopted_task
from descheduler.model.koordinator.eviction_annotations import PASSED_ARBITRATION_ANNOTATION
from descheduler.model.koordinator.migration_job import JobPhase, MigrationJob
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.moves import Move
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind

_MOVED = frozenset({OutcomeCode.DONE, OutcomeCode.MISSED_ROOM, OutcomeCode.RESERVATION_UNUSED})
"""The job has succeeded."""


class UsersJobs(msgspec.Struct, frozen=True):
    """How many jobs of users were admitted, and how many of these have succeeded.

    `num_left` wait for koord-descheduler to carry them out, or seem to: its Lease may not be read. `num_limited` wait
    for the next run because of limits on evictions, of which `limit` is the first that was met. `outcomes` are those
    of all that were judged, but for paused ones; `unheeded` are eviction policies for which labels asked in vain;
    `evicted` are the pods that have left, or may have, and count against limits.
    """

    num_started: int = 0
    num_succeeded: int = 0
    num_left: int = 0
    num_limited: int = 0
    limit: str = ""
    unheeded: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    evicted: tuple[Move, ...] = ()


class JudgedJob(msgspec.Struct, frozen=True):
    """What is made of one job, as arbitration decided; one with a `code` evicts nothing in this run, for the reason
    that `verdict` gives."""

    decision: JobDecision
    code: OutcomeCode | None = None
    verdict: Verdict = ACCEPTED

    @property
    def may_evict(self) -> bool:
        """Whether its pod is to leave now."""
        return self.code is None and self.decision.outcome is JobOutcome.STARTED

    @property
    def waits(self) -> bool:
        """Whether the next run decides again."""
        return self.code in (OutcomeCode.JOB_WAITS, OutcomeCode.LIMIT)


def judge_jobs(
    jobs: Sequence[MigrationJob],
    snapshot: Snapshot,
    args: MigrationControllerArgs,
    limits: RunLimits,
    *,
    scope: Scope,
    now: datetime,
) -> tuple[JudgedJob, ...]:
    """All of `jobs`, of users, but those that are paused, in the order in which they were decided about.

    Each is asked for as if it waited: limits count what those before it are to evict, and the jobs of others that are
    under way. Of several jobs for one pod the first goes; those for pods outside of `scope` wait for another run.
    """
    names = {job.name for job in jobs}
    others = [job for job in snapshot.migration_jobs if job.is_under_way and job.name not in names]
    view = ClusterView(snapshot, moves_take_effect=True)
    decisions = arbitrate([*map(_as_waiting, jobs), *others], view, args, now=now)
    judge = _Judge(limits, scope, others)
    return tuple(judged for each in decisions if (judged := judge(each)) is not None)


def left_job(judged: JudgedJob, profile: str, code: OutcomeCode | None = None, why: str = "") -> Outcome:
    """The outcome of a job for which nothing is evicted in this run, as it was judged, or else for the reason `why`."""
    decision, verdict = judged.decision, judged.verdict
    eviction = adopted_task(decision.job, decision.pod, profile=profile).eviction
    if code is None and judged.code is not None:
        kept = OutcomeKind.NOT_ATTEMPTED, judged.code, verdict.message
        return Outcome(eviction, *kept, check=verdict.code, subject=verdict.subject)
    return Outcome(eviction, OutcomeKind.NOT_ATTEMPTED, code or OutcomeCode.JOB_WAITS, why)


def users_jobs(
    judged: Sequence[JudgedJob], ended: Iterable[tuple[JudgedJob, Outcome]], left: Iterable[Outcome], profile: str
) -> UsersJobs:
    """What became of the jobs in the name of `profile`: some `ended`, in which some pods left, and some were `left`."""
    told = [(each, outcome if each.may_evict else _as_gone(outcome)) for each, outcome in ended]
    over_limit = [each.verdict.message for each in judged if each.code is OutcomeCode.LIMIT]
    departed = [each.decision.pod for each, outcome in told if outcome.kind.uses_limits]
    outcomes = [outcome for _, outcome in told]
    return UsersJobs(
        sum(each.may_evict for each, _ in told),
        num_moved(outcomes),
        num_limited=len(over_limit),
        limit=next(iter(over_limit), ""),
        outcomes=(*outcomes, *left),
        evicted=tuple(Move(pod, profile, plugin="") for pod in departed if pod is not None),
    )


def num_moved(outcomes: Iterable[Outcome]) -> int:
    """How many jobs have succeeded."""
    return sum(outcome.code in _MOVED for outcome in outcomes)


def _as_gone(outcome: Outcome) -> Outcome:
    """Of a pod that was gone before the run could evict it, even if its replacement was awaited."""
    if not outcome.kind.uses_limits:
        return outcome
    return replace(outcome, kind=OutcomeKind.GONE, code=OutcomeCode.POD_GONE, message=POD_GONE)


def _as_waiting(job: MigrationJob) -> MigrationJob:
    annotations = {key: text for key, text in job.annotations.items() if key != PASSED_ARBITRATION_ANNOTATION}
    return replace(job, phase=JobPhase.PENDING.value, annotations=annotations)


class _Judge:
    """Decides about jobs one after the other. A limit of the run counts all before as if they succeed."""

    def __init__(self, limits: RunLimits, scope: Scope, others: Iterable[MigrationJob]) -> None:
        self._counters = EvictionCounters(limits)
        self._scope = scope
        self._movers = {job.pod_uid: job.name for job in others if job.pod_uid}

    def __call__(self, decision: JobDecision) -> JudgedJob | None:
        """What is made of it; None for a paused job that nothing is done about."""
        match decision.outcome:
            case JobOutcome.REFUSED:
                return JudgedJob(decision, OutcomeCode.PROTECTED, decision.verdict)
            case JobOutcome.WAITING | JobOutcome.HELD if decision.job.is_paused:
                return None
            case JobOutcome.WAITING | JobOutcome.HELD:
                return JudgedJob(decision, OutcomeCode.JOB_WAITS, decision.verdict)
            case JobOutcome.STARTED if decision.pod is not None:
                return self._let_go(decision, decision.pod)
        return JudgedJob(decision)

    def _let_go(self, decision: JobDecision, pod: Pod) -> JudgedJob:
        verdict = self._scope.verdict(pod)
        if not verdict.is_accepted:
            return JudgedJob(decision, OutcomeCode.JOB_WAITS, verdict)
        mover = self._movers.setdefault(pod.uid, decision.job.name)
        if mover != decision.job.name:
            return JudgedJob(decision, OutcomeCode.JOB_WAITS, _moved_by(mover))
        verdict = self._counters.verdict(pod)
        if not verdict.is_accepted:
            return JudgedJob(decision, OutcomeCode.LIMIT, verdict)
        self._counters.count(pod)
        return JudgedJob(decision)


def _moved_by(name: str) -> Verdict:
    subject = f"PodMigrationJob {name}"
    return refuse(Reason.ALREADY_MIGRATING, f"{subject} already migrates the pod", subject)


_LEASE_PATH = "/apis/coordination.k8s.io/v1/namespaces/koordinator-system/leases/koord-descheduler"


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    renew_time: datetime | None = None
    lease_duration_seconds: int | None = None


class _Lease(msgspec.Struct):
    spec: _Spec


_decode = msgspec.json.Decoder(_Lease).decode


def runs_koord_descheduler(objects: ObjectCalls, now: datetime) -> bool | None:
    """Whether somebody holds the Lease of koord-descheduler at `now`; None where that may not be read.

    Source: koordinator 1.8 `cmd/koord-descheduler`, leader election by the Lease of this name. Raises ExchangeError.
    """
    try:
        lease = objects.read(_LEASE_PATH, _decode)
    except ApiError as error:
        if error.is_forbidden:
            return None
        raise
    if lease is None or not lease.spec.holder_identity or lease.spec.renew_time is None:
        return False
    return now <= lease.spec.renew_time + timedelta(seconds=lease.spec.lease_duration_seconds or 0)

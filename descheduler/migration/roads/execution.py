"""Carries evictions out as jobs: those of a plan, and before it those that earlier runs left."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.checks.scope import Scope
from descheduler.eviction.migration_controller.arbitration import is_unclaimed, jobs_to_judge
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.profiles import unheeded_policy
from descheduler.eviction.migration_controller.surging_pods import SURGED_KIND, keeps_single_replicas
from descheduler.kube.evict import EvictionClient
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.dispatch.limits import LimitLedger
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.job.conditions import failed
from descheduler.migration.job.machine import JobTerms
from descheduler.migration.job.surge import Surge
from descheduler.migration.recheck import Footprints, Rechecked
from descheduler.migration.replacements import successors_of
from descheduler.migration.roads.adoption import Adopted, adopt, adopted_task
from descheduler.migration.roads.job_task import JobTask, Turn
from descheduler.migration.roads.jobs import JobRoad
from descheduler.migration.roads.keeper import JobKeeper
from descheduler.migration.roads.users_jobs import (
    JudgedJob,
    UsersJobs,
    judge_jobs,
    left_job,
    num_moved,
    runs_koord_descheduler,
    users_jobs,
)
from descheduler.migration.room.provider import ReservationProvider
from descheduler.migration.room.table import PROVIDERS, JobProfile
from descheduler.migration.settings import DispatchSettings, JobSettings, JobStorage
from descheduler.migration.store.config_map_jobs import ConfigMapJobs
from descheduler.migration.store.job_objects import JobObjects
from descheduler.migration.store.journal import Journal, NewJob
from descheduler.migration.store.wire import MAP_PREFIX, job_differs
from descheduler.model.koordinator.migration_job import JobMode, JobReason, MigrationJob
from descheduler.model.pod import Pod
from descheduler.plan.outcome import Outcome, OutcomeCode
from descheduler.plan.planned import PlannedEviction

_T = TypeVar("_T")

_UNPLACED_PATIENCE = timedelta(seconds=60)
"""A batch job does not wait for a node as long as a service can: the next run decides again."""


class JobExecution:
    """The jobs of one run. `profiles` are those that use jobs, by name.

    Moves of a plan over `snapshot` are rechecked before each wave of evictions; without one they hold as they are.
    """

    def __init__(
        self,
        objects: ObjectCalls,
        profiles: Mapping[str, JobProfile],
        storage: JobStorage,
        port: EvictionClient,
        settings: DispatchSettings,
        around: Surroundings,
        snapshot: Snapshot | None = None,
    ) -> None:
        self._objects = objects
        self._profiles = profiles
        self._storage = storage
        self._journal = _journal_in(storage, objects)
        self._port = port
        self._settings = settings
        self._around = around
        self._recheck = None if snapshot is None else partial(_rechecked, Footprints(objects, snapshot))
        self._providers = self._make_providers()
        self._is_alone: bool | None = None
        """Whether no koord-descheduler runs, which would carry out users' jobs; None until somebody asks."""

    def takes(self, eviction: PlannedEviction) -> bool:
        """Whether `eviction` is carried out as a job."""
        return eviction.profile in self._profiles and bool(eviction.uid) and not eviction.dry

    def take_up(self) -> Adopted:
        """Finishes or undoes what earlier runs of the policy left. Raises ExchangeError."""
        keeper = self._keeper(JobTerms())
        adopted = self._in_time("took up jobs of earlier runs", partial(self._adopt, keeper))
        tasks = [adopted_task(job, finishes_only=True) for job in adopted.unfinished]
        outcomes = self._road(keeper).run(tasks)
        return replace(adopted, num_finished=num_moved(outcomes), outcomes=outcomes)

    def _adopt(self, keeper: JobKeeper) -> Adopted:
        adopted = adopt(
            self._objects,
            self._journal,
            keeper,
            self._providers.values(),
            is_own=self._is_own,
            is_users=self._is_users,
            now=self._around.now(),
        )
        return replace(adopted, broken=self._journal.fail_broken(self._looks_after_users))

    def execute(self, evictions: Sequence[PlannedEviction], ledger: LimitLedger | None = None) -> tuple[Outcome, ...]:
        """One outcome for each of `evictions`, which `takes` agrees to, profile by profile.

        All count against the limits of `ledger`, which others may have used; without one, against those of the run.
        """
        ledger = ledger or LimitLedger(self._settings.limits)
        outcomes: list[Outcome] = []
        for name, profile in self._profiles.items():
            tasks = [JobTask(eviction) for eviction in evictions if eviction.profile == name]
            keeper = self._keeper(_terms(profile))
            outcomes += self._road(keeper, name, ledger).run(tasks)
        return tuple(outcomes)

    def carry_out_users(self, snapshot: Snapshot, scope: Scope) -> UsersJobs:
        """Carries out the jobs that users have created for pods in `scope`, as far as arbitration admits them now.

        Raises ExchangeError.
        """
        if not self._storage.is_first_shard:
            return UsersJobs()
        unclaimed = [job for job in jobs_to_judge(snapshot) if is_unclaimed(job)]
        asked = self._in_time("looked for a koord-descheduler", lambda: [*filter(self._is_users, unclaimed)])
        if not asked:
            return UsersJobs(num_left=sum(job.is_waiting for job in unclaimed))
        name, profile = next(iter(self._profiles.items()))
        # Users' jobs surge nothing, so that nothing may count on it.
        args = replace(profile.args, single_replicas="")
        now, limits = self._around.now(), self._settings.limits
        judged = judge_jobs(asked, snapshot, args, limits, scope=scope, now=now)
        keeper = self._keeper(_terms(profile))
        taken = self._in_time(
            "took up PodMigrationJobs of users", lambda: [(each, self._take(each, keeper, name)) for each in judged]
        )
        going = [(each, task) for each, task in taken if isinstance(task, JobTask)]
        ended = self._road(keeper).run([task for _, task in going])
        outcomes = [each for _, each in taken if isinstance(each, Outcome)]
        made = users_jobs(judged, zip([each for each, _ in going], ended, strict=True), outcomes, name)
        in_vain = (_unheeded(args, each, task) for each, task in going if each.may_evict)
        return replace(made, unheeded=tuple(filter(None, in_vain)))

    def _in_time(self, doing: str, work: Callable[[], _T]) -> _T:
        return self._around.in_time(doing, work, give_up=self._objects.give_up)

    def _take(self, judged: JudgedJob, keeper: JobKeeper, profile: str) -> JobTask | Outcome:
        """What takes the job to its end, as it is kept now; the outcome of one that waits, or is ended at once."""
        decision, pod = judged.decision, judged.decision.pod
        if judged.waits:
            return left_job(judged, profile)
        if (job := self._journal.read(decision.job)) is None:
            return left_job(judged, profile, OutcomeCode.JOB_DELETED, "another client deleted the PodMigrationJob")
        if judged.may_evict and pod is not None and not job.pod_uid:  # a later pod of this name is another one
            job = keeper.save(job, replace(job, pod_uid=pod.uid)) or job
        if pod is not None and not _is_about(job, pod):
            return left_job(judged, profile, OutcomeCode.JOB_WAITS, "its podRef was changed during the run")
        if judged.code is None:
            return adopted_task(job, pod, profile=profile, finishes_only=not judged.may_evict)
        if not job.has_ended:
            keeper.undo(job, partial(failed, reason=JobReason.FORBIDDEN, message=judged.verdict.message))
        return left_job(judged, profile)

    def _is_users(self, job: MigrationJob) -> bool:
        """Whether a user has created it, and no other program looks after it."""
        return is_unclaimed(job) and self._looks_after_users()

    def _looks_after_users(self) -> bool:
        if not (self._storage.in_objects and self._storage.is_first_shard):
            return False
        if self._is_alone is None:
            self._is_alone = runs_koord_descheduler(self._objects, self._around.now()) is False
        return self._is_alone

    def _make_providers(self) -> dict[str, ReservationProvider]:
        wanted = {profile.choice.provider for profile in self._profiles.values()}
        # What an earlier run with another choice left is found by these as well. A user's job names no provider: it
        # gets the first, which is one that holds room.
        in_order = sorted(PROVIDERS, key=lambda each: (not each.holds_room, each not in wanted))
        return {each.value: PROVIDERS[each].make(self._objects, self._storage.owner) for each in in_order}

    def _keeper(self, terms: JobTerms) -> JobKeeper:
        around = self._around
        return JobKeeper(
            self._objects,
            self._journal,
            self._providers,
            terms,
            now=around.now,
            listener=around.listener,
            is_halted=lambda: around.halted() is not None or bool(around.why_not_call()),
        )

    def _road(self, keeper: JobKeeper, name: str = "", ledger: LimitLedger | None = None) -> JobRoad:
        """What carries out the plan of the profile `name`; without one, jobs that others have begun."""
        settings = JobSettings(self._settings)
        new_job = partial(_new_job, self._profiles.get(name))
        return JobRoad(
            self._journal,
            keeper,
            self._port,
            settings,
            new_job,
            self._around,
            self._recheck,
            ledger,
        )

    def _is_own(self, job: MigrationJob) -> bool:
        prefix = "" if self._storage.in_objects else MAP_PREFIX
        return not job_differs(job, self._storage.owner, prefix)


def _unheeded(args: MigrationControllerArgs, judged: JudgedJob, task: JobTask) -> str:
    """The eviction policy that labels of a job and its pod ask for in vain."""
    job, pod = task.job, judged.decision.pod
    return "" if job is None or pod is None else unheeded_policy(args, pod.labels, job.labels)


def _rechecked(
    footprints: Footprints, turns: Sequence[Turn], under_way: Collection[str], granted: Collection[str]
) -> Rechecked:
    """What `footprints` find of `turns`."""
    del granted  # whose pods take room until they are gone: what is held does not count on theirs
    return footprints.recheck([turn.asked() for turn in turns], under_way)


def _is_about(job: MigrationJob, pod: Pod) -> bool:
    """Whether `job` still says that `pod` is to leave."""
    return (job.pod_namespace, job.pod_name) == (pod.namespace, pod.name) and job.pod_uid in ("", pod.uid)


def _journal_in(storage: JobStorage, objects: ObjectCalls) -> Journal:
    """What keeps the jobs."""
    if storage.in_objects:
        return JobObjects(objects, storage.owner)
    return ConfigMapJobs(objects, storage.namespace, storage.owner)


def _terms(profile: JobProfile) -> JobTerms:
    args = profile.args
    return JobTerms(
        profile.choice.mode, args.eviction_policy, args.allowed_eviction_policies, unplaced_patience=_UNPLACED_PATIENCE
    )


def _new_job(profile: JobProfile | None, eviction: PlannedEviction) -> NewJob:
    if profile is None:
        raise ValueError(f"pod {eviction.name} has a job already")
    options = profile.args.default_delete_options
    grace_period_seconds = None if options is None else options.grace_period_seconds
    successors = successors_of(eviction)
    return NewJob(
        namespace=eviction.namespace,
        name=eviction.name,
        uid=eviction.uid,
        mode=profile.choice.mode,
        reason=eviction.reason,
        plugin=eviction.plugin,
        provider=profile.choice.provider,
        ttl=profile.args.default_job_ttl or None,
        successors="" if successors is None else successors.encoded(),
        surge=_surge(profile, eviction),
        held_on=eviction.held_on,
        rooms=eviction.rooms,
        delete_options={} if grace_period_seconds is None else {"gracePeriodSeconds": grace_period_seconds},
    )


def _surge(profile: JobProfile, eviction: PlannedEviction) -> str:
    """What a job is to know of its surge, "" where no workload of that kind can be surged."""
    can_be = eviction.controller is not None and eviction.controller.kind == SURGED_KIND
    if not (can_be and profile.args.surges and profile.choice.mode == JobMode.RESERVATION_FIRST):
        return ""
    return Surge(is_required=keeps_single_replicas(profile.args)).encoded()

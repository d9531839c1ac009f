"""Carries evictions out as jobs: those of a plan, and before it those that earlier runs left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial

from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.migration_controller.arbitration import JobDecision, JobOutcome, arbitrate
from descheduler.eviction.migration_controller.surging_pods import SURGED_KIND, keeps_single_replicas
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.controller.adoption import Adopted, adopt, adopted_task
from descheduler.migration.controller.controller import JobController
from descheduler.migration.controller.job_keeper import JobKeeper
from descheduler.migration.controller.settings import ControllerSettings
from descheduler.migration.controller.surroundings import Surroundings
from descheduler.migration.controller.task import JobTask
from descheduler.migration.jobs.conditions import failed
from descheduler.migration.jobs.machine import JobTerms
from descheduler.migration.jobs.surge import Surge
from descheduler.migration.journal.config_map_jobs import ConfigMapJobs
from descheduler.migration.journal.job_objects import JobObjects
from descheduler.migration.journal.journal import Journal, NewJob
from descheduler.migration.ports import RemovalPort
from descheduler.migration.providers.koordinator.provider import ReservationRooms
from descheduler.migration.providers.none import NoRooms
from descheduler.migration.providers.placeholder.pod import PlaceholderSettings
from descheduler.migration.providers.placeholder.provider import PlaceholderRooms
from descheduler.migration.providers.provider import ReservationProvider
from descheduler.migration.replacements import successors_of
from descheduler.migration.revalidation.footprints import Footprints
from descheduler.migration.settings import ExecutorSettings
from descheduler.migration.setup.job_settings import JobProfile, JobStorage
from descheduler.migration.setup.koord_descheduler import runs_koord_descheduler
from descheduler.migration.setup.users_jobs import JobLimits, UsersJobs
from descheduler.model.koordinator.eviction_annotations import CREATED_BY_ANNOTATION
from descheduler.model.koordinator.migration_job import JobMode, JobReason, MigrationJob
from descheduler.plan.outcome import Outcome, OutcomeCode
from descheduler.plan.planned import PlannedEviction
from descheduler.plan.prior_moves import PriorMove

__all__ = ["JobExecution"]

_LEFT = frozenset({JobOutcome.HELD, JobOutcome.WAITING})
"""Jobs that are asked again in the next run."""
_MOVED = frozenset({OutcomeCode.DONE, OutcomeCode.MISSED_ROOM, OutcomeCode.RESERVATION_UNUSED})
"""The job has succeeded."""
_UNPLACED_PATIENCE = timedelta(seconds=60)
"""A batch job does not wait for a node as long as a service can: the next run decides again."""


class JobExecution:
    """The jobs of one run. `profiles` are those that use jobs, by name.

    Moves of a plan over `snapshot` are judged again before each wave of evictions; without one they hold as they are.
    """

    def __init__(
        self,
        objects: ObjectCalls,
        profiles: Mapping[str, JobProfile],
        storage: JobStorage,
        port: RemovalPort,
        settings: ExecutorSettings,
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
        self._judge = None if snapshot is None else Footprints(objects, snapshot)
        self._providers = self._make_providers()
        self._is_alone: bool | None = None
        """Whether no koord-descheduler runs, which would carry out users' jobs; None until somebody asks."""

    def takes(self, eviction: PlannedEviction) -> bool:
        """Whether `eviction` is carried out as a job."""
        return eviction.profile in self._profiles and bool(eviction.uid) and not eviction.dry

    def take_up(self) -> Adopted:
        """Finishes or undoes what earlier runs of the policy left. Raises KubeError."""
        keeper = self._keeper(JobTerms())
        adopted = adopt(
            self._objects,
            self._journal,
            keeper,
            self._providers.values(),
            is_own=self._is_own,
            is_users=self._is_users,
            now=self._around.now(),
        )
        broken = self._journal.fail_broken(self._looks_after_users)
        outcomes = self._controller(keeper).run([adopted_task(job) for job in adopted.unfinished])
        return replace(adopted, num_finished=_num_done(outcomes), outcomes=outcomes, broken=broken)

    def execute(self, evictions: Sequence[PlannedEviction]) -> tuple[Outcome, ...]:
        """One outcome for each of `evictions`, which `takes` agrees to, profile by profile."""
        outcomes: list[Outcome] = []
        for name, profile in self._profiles.items():
            tasks = [JobTask(eviction) for eviction in evictions if eviction.profile == name]
            keeper = self._keeper(_terms(profile))
            outcomes += self._controller(keeper, name).run(tasks)
        return tuple(outcomes)

    def carry_out_users(self, snapshot: Snapshot) -> UsersJobs:
        """Carries out the jobs that users have created, as far as arbitration lets them go now. Raises KubeError."""
        found = [job for job in snapshot.migration_jobs if job.is_waiting and _is_unclaimed(job)]
        waiting = [job for job in found if self._is_users(job)]
        if not waiting:
            return UsersJobs(num_left=len(found))
        name, profile = next(iter(self._profiles.items()))
        view, now = ClusterView(snapshot, moves_take_effect=True), self._around.now()
        jobs = [*waiting, *(job for job in snapshot.migration_jobs if job.is_under_way)]
        limits = JobLimits(self._settings.limits)
        # Users' jobs surge nothing, so that nothing may count on it.
        args = replace(profile.args, single_replicas="")
        decisions = [each for each in arbitrate(jobs, view, args, now=now) if not limits.hold(each)]
        keeper = self._keeper(_terms(profile))
        pods = {(pod.namespace, pod.name): pod for pod in snapshot.pods}
        taken = list(self._taken(decisions, keeper))
        tasks = [adopted_task(job, pods.get((job.pod_namespace, job.pod_name)), profile=name) for job, _ in taken]
        outcomes = self._controller(keeper).run(tasks)
        left = [each.pod for (_, each), outcome in zip(taken, outcomes, strict=True) if outcome.kind.uses_limits]
        return UsersJobs(
            sum(each.outcome is JobOutcome.STARTED for _, each in taken),
            _num_done(outcomes),
            num_limited=limits.num_held,
            limit=limits.reached,
            outcomes=outcomes,
            evicted=tuple(PriorMove(pod, name, plugin="") for pod in left if pod is not None),
        )

    def _taken(self, decisions: Iterable[JobDecision], keeper: JobKeeper) -> Iterator[tuple[MigrationJob, JobDecision]]:
        """The jobs to take to their end, as they are kept now; those that are refused are ended at once."""
        for decision in decisions:
            if decision.outcome in _LEFT or (job := self._journal.read(decision.job)) is None:
                continue
            if decision.outcome is JobOutcome.REFUSED:
                keeper.save(job, failed(job, JobReason.FORBIDDEN, decision.verdict.message))
            else:
                yield job, decision

    def _is_users(self, job: MigrationJob) -> bool:
        """Whether a user has created it, and nobody else looks after it."""
        return _is_unclaimed(job) and self._looks_after_users()

    def _looks_after_users(self) -> bool:
        if not self._storage.in_objects:
            return False
        if self._is_alone is None:
            self._is_alone = runs_koord_descheduler(self._objects, self._around.now()) is False
        return self._is_alone

    def _make_providers(self) -> dict[str, ReservationProvider]:
        owner = self._storage.owner
        wanted = {profile.choice.provider for profile in self._profiles.values()}
        made: list[ReservationProvider] = [
            ReservationRooms(self._objects, owner),
            PlaceholderRooms(self._objects, owner, PlaceholderSettings()),
            NoRooms(),
        ]
        # What an earlier run with another choice left is found by these as well. A user's job names no provider: it
        # gets the first, which is one that holds room.
        in_order = sorted(made, key=lambda each: (isinstance(each, NoRooms), each.name not in wanted))
        return {provider.name: provider for provider in in_order}

    def _keeper(self, terms: JobTerms) -> JobKeeper:
        around = self._around
        return JobKeeper(
            self._objects,
            self._journal,
            self._providers,
            terms,
            now=around.now,
            listener=around.listener,
            is_halted=lambda: around.halted() is not None or bool(around.may_call()),
        )

    def _controller(self, keeper: JobKeeper, name: str = "") -> JobController:
        """What carries out the plan of the profile `name`; without one, jobs that others have begun."""
        settings = ControllerSettings(self._settings)
        new_job = partial(_new_job, self._profiles.get(name))
        why_closed = partial(self._why_closed, name)
        return JobController(
            self._journal, keeper, self._port, settings, new_job, self._around, self._judge, why_closed
        )

    def _why_closed(self, name: str) -> str:
        """Why the profile of that name, if any, evicts nothing more; "" while it may."""
        return self._settings.why_closed(name, self._around.clock())

    def _is_own(self, job: MigrationJob) -> bool:
        return job.annotations.get(CREATED_BY_ANNOTATION) == self._storage.owner


def _is_unclaimed(job: MigrationJob) -> bool:
    """Whether nobody says that the job is his: users' jobs do not."""
    return CREATED_BY_ANNOTATION not in job.annotations


def _num_done(outcomes: Sequence[Outcome]) -> int:
    """How many have moved their pod."""
    return sum(outcome.code in _MOVED for outcome in outcomes)


def _journal_in(storage: JobStorage, objects: ObjectCalls) -> Journal:
    """What keeps the jobs."""
    if storage.in_objects:
        return JobObjects(objects, storage.owner)
    return ConfigMapJobs(objects, storage.namespace, storage.owner)


def _terms(profile: JobProfile) -> JobTerms:
    return JobTerms(profile.choice.mode, profile.args.eviction_policy, _UNPLACED_PATIENCE)


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

"""Carries evictions out as jobs: those of a plan, and before it those that earlier runs left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial

import msgspec
from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.migration_controller.arbitration import JobOutcome, arbitrate
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.controller.adoption import Adopted, adopt, adopted_task
from descheduler.migration.controller.controller import JobController
from descheduler.migration.controller.job_keeper import JobKeeper
from descheduler.migration.controller.removal import RemovalPort
from descheduler.migration.controller.settings import ControllerSettings
from descheduler.migration.controller.surroundings import Surroundings
from descheduler.migration.controller.task import JobTask
from descheduler.migration.jobs.conditions import failed
from descheduler.migration.jobs.machine import JobTerms
from descheduler.migration.journal.config_map_jobs import ConfigMapJobs
from descheduler.migration.journal.job_objects import JobObjects
from descheduler.migration.journal.journal import Journal, NewJob
from descheduler.migration.providers.koordinator.provider import ReservationRooms
from descheduler.migration.providers.none import NoRooms
from descheduler.migration.providers.placeholder.pod import PlaceholderSettings
from descheduler.migration.providers.placeholder.provider import PlaceholderRooms
from descheduler.migration.providers.provider import ReservationProvider
from descheduler.migration.replacements import successors_of
from descheduler.migration.revalidation.footprints import Footprints
from descheduler.migration.settings import ExecutorSettings
from descheduler.migration.setup.choice import Choice
from descheduler.migration.setup.koord_descheduler import runs_koord_descheduler
from descheduler.model.koordinator.eviction_annotations import CREATED_BY_ANNOTATION
from descheduler.model.koordinator.migration_job import JobReason, MigrationJob
from descheduler.plan.outcome import Outcome, OutcomeCode
from descheduler.plan.planned import PlannedEviction

__all__ = ["JobExecution", "JobProfile", "JobStorage", "UsersJobs"]

_LEFT = frozenset({JobOutcome.HELD, JobOutcome.WAITING})
"""Jobs that are asked again in the next run."""
_MOVED = frozenset({OutcomeCode.DONE, OutcomeCode.MISSED_ROOM, OutcomeCode.RESERVATION_UNUSED})
"""The job has succeeded."""
_UNPLACED_PATIENCE = timedelta(seconds=60)
"""A batch job does not wait for a node as long as a service can: the next run decides again."""


class JobProfile(msgspec.Struct, frozen=True):
    """How the evictions of one profile are carried out as jobs."""

    args: MigrationControllerArgs
    choice: Choice


class JobStorage(msgspec.Struct, frozen=True):
    """Where jobs are kept: as PodMigrationJobs, or as ConfigMaps of `namespace`.

    `owner` tells those of one policy, in this run and the next; it may be the value of a label.
    """

    owner: str
    namespace: str
    in_objects: bool

    def journal(self, objects: ObjectCalls) -> Journal:
        """What keeps the jobs."""
        if self.in_objects:
            return JobObjects(objects, self.owner)
        return ConfigMapJobs(objects, self.namespace, self.owner)


class UsersJobs(msgspec.Struct, frozen=True):
    """How many jobs of users were let go, and how many of these have succeeded.

    `num_left` wait for koord-descheduler to carry them out, or seem to: its Lease may not be read. `outcomes` are those
    of the pods of jobs that were let go.
    """

    num_started: int = 0
    num_succeeded: int = 0
    num_left: int = 0
    outcomes: tuple[Outcome, ...] = ()


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
        self._journal = storage.journal(objects)
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
        outcomes = self._controller(keeper).run([adopted_task(job) for job in adopted.unfinished])
        return replace(adopted, num_finished=_num_done(outcomes), outcomes=outcomes)

    def execute(self, evictions: Sequence[PlannedEviction]) -> tuple[Outcome, ...]:
        """One outcome for each of `evictions`, which `takes` agrees to, profile by profile."""
        outcomes: list[Outcome] = []
        for name, profile in self._profiles.items():
            tasks = [JobTask(eviction) for eviction in evictions if eviction.profile == name]
            keeper = self._keeper(_terms(profile))
            outcomes += self._controller(keeper, profile).run(tasks)
        return tuple(outcomes)

    def carry_out_users(self, snapshot: Snapshot) -> UsersJobs:
        """Carries out the jobs that users have created, as far as arbitration lets them go now. Raises KubeError."""
        found = [job for job in snapshot.migration_jobs if job.is_waiting and _is_unclaimed(job)]
        waiting = [job for job in found if self._is_users(job)]
        if not waiting:
            return UsersJobs(num_left=len(found))
        profile = next(iter(self._profiles.values()))
        view, now = ClusterView(snapshot, moves_take_effect=True), self._around.now()
        jobs = [*waiting, *(job for job in snapshot.migration_jobs if job.is_under_way)]
        keeper = self._keeper(_terms(profile))
        decisions = arbitrate(jobs, view, profile.args, now=now)
        pods = {(pod.namespace, pod.name): pod for pod in snapshot.pods}
        tasks, num_started = [], 0
        for decision in decisions:
            if decision.outcome in _LEFT or (job := self._journal.read(decision.job)) is None:
                continue
            num_started += decision.outcome is JobOutcome.STARTED
            if decision.outcome is JobOutcome.REFUSED:
                keeper.save(job, failed(job, JobReason.FORBIDDEN, decision.verdict.message))
            else:
                tasks.append(adopted_task(job, pods.get((job.pod_namespace, job.pod_name))))
        outcomes = self._controller(keeper).run(tasks)
        return UsersJobs(num_started, _num_done(outcomes), outcomes=outcomes)

    def _is_users(self, job: MigrationJob) -> bool:
        """Whether a user has created it, and nobody else looks after it."""
        if not _is_unclaimed(job) or not self._storage.in_objects:
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
        return JobKeeper(self._objects, self._journal, self._providers, terms, now=around.now, listener=around.listener)

    def _controller(self, keeper: JobKeeper, profile: JobProfile | None = None) -> JobController:
        settings = ControllerSettings(self._settings)
        new_job = partial(_new_job, profile)
        return JobController(self._journal, keeper, self._port, settings, new_job, self._around, self._judge)

    def _is_own(self, job: MigrationJob) -> bool:
        return job.annotations.get(CREATED_BY_ANNOTATION) == self._storage.owner


def _is_unclaimed(job: MigrationJob) -> bool:
    """Whether nobody says that the job is his: users' jobs do not."""
    return CREATED_BY_ANNOTATION not in job.annotations


def _num_done(outcomes: Sequence[Outcome]) -> int:
    """How many have moved their pod."""
    return sum(outcome.code in _MOVED for outcome in outcomes)


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
        delete_options={} if grace_period_seconds is None else {"gracePeriodSeconds": grace_period_seconds},
    )

"""Jobs carried out on a living cluster, with every call made at once and all waits on the cluster's clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from descheduler.kube.evict import EvictionClient
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.dispatch.pace import Paces
from descheduler.migration.dispatch.surroundings import CallRunner, OpenCalls, Surroundings
from descheduler.migration.job.machine import JobTerms
from descheduler.migration.job.surge import Surge
from descheduler.migration.replacements import successors_of
from descheduler.migration.roads.adoption import Adopted, adopt, adopted_task
from descheduler.migration.roads.job_task import JobTask
from descheduler.migration.roads.jobs import JobRoad
from descheduler.migration.roads.keeper import JobKeeper
from descheduler.migration.room.koordinator.provider import ReservationRooms
from descheduler.migration.room.placeholder.provider import PlaceholderRooms
from descheduler.migration.room.provider import NoRooms, ReservationProvider
from descheduler.migration.settings import DispatchSettings, JobSettings
from descheduler.migration.store.config_map_jobs import ConfigMapJobs
from descheduler.migration.store.job_objects import JobObjects
from descheduler.migration.store.journal import Journal, NewJob
from descheduler.model.koordinator.eviction_annotations import CREATED_BY_ANNOTATION
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import Owner
from descheduler.plan.outcome import Outcome, OutcomeCode
from descheduler.plan.planned import PlannedEviction, PlannedRoom
from tests.living.cluster import LivingCluster
from tests.living.transport import Passage
from tests.migration.stand_ins import AtOnce

Object = dict[str, Any]
Halted = tuple[OutcomeCode, str]


@dataclass
class Play:
    """One run's controller over `cluster`. `provider` and `keeps_objects` choose how room is held and jobs are kept.

    Jobs are created with this `surge`.
    """

    cluster: LivingCluster
    provider: str = "koordinator"
    keeps_objects: bool = True
    mode: str = "ReservationFirst"
    ttl: timedelta | None = timedelta(minutes=5)
    terms: JobTerms = field(default_factory=JobTerms)
    settings: DispatchSettings = field(default_factory=lambda: DispatchSettings(qps=100.0, burst=100))
    halted: Callable[[], Halted | None] = lambda: None
    calls: CallRunner = field(default_factory=AtOnce)
    surge: Surge | None = None
    clock_is_ahead: timedelta = timedelta()
    most_active: int = 100

    def __post_init__(self) -> None:
        """Makes the client."""
        self.client = self.cluster.client()
        self.objects = ObjectCalls(self.client)
        self.open_calls = OpenCalls(self.settings.effect_seconds, now=self.cluster.clock.monotonic)

    def through(self, way: Passage) -> Play:
        """The same, with all calls going this way."""
        self.client = self.cluster.client(passage=way)
        self.objects = ObjectCalls(self.client)
        return self

    def take_up(self) -> Adopted:
        """Finishes or undoes what earlier runs left."""
        journal = self.journal()
        keeper = self.keeper(journal)
        now = self.now()
        adopted = adopt(
            self.objects,
            journal,
            keeper,
            [self.rooms()],
            is_own=self._is_own,
            is_users=lambda job: CREATED_BY_ANNOTATION not in job.annotations,
            now=now,
        )
        self.run([adopted_task(job) for job in adopted.unfinished])
        return adopted

    def _is_own(self, job: MigrationJob) -> bool:
        return job.annotations.get(CREATED_BY_ANNOTATION) in ("descheduler-test", "test")

    def evict(self, *pods: Object, held_on: str = "") -> tuple[Outcome, ...]:
        """The outcomes of evictions of these pods, each by a job of its own; their room is `held_on` this node."""
        return self.run([self.task(pod, held_on=held_on) for pod in pods])

    def run(self, tasks: Iterable[JobTask]) -> tuple[Outcome, ...]:
        """The outcomes of these tasks."""
        return self.controller().run(tasks)

    def task(self, pod: Object, *, held_on: str = "", rooms: Iterable[PlannedRoom] = ()) -> JobTask:
        """The task of evicting `pod`, which makes `rooms`."""
        meta = pod["metadata"]
        owners = meta.get("ownerReferences") or [{"uid": ""}]
        return JobTask(
            PlannedEviction(
                meta["namespace"],
                meta["name"],
                meta["uid"],
                pod["spec"]["nodeName"],
                "p",
                "Plugin",
                held_on=held_on,
                rooms=tuple(rooms),
                controller=Owner(owners[0]["kind"], owners[0]["name"], owners[0]["uid"], controller=True),
                labels=meta["labels"],
            )
        )

    def controller(self) -> JobRoad:
        """A controller over the cluster as it is."""
        journal = self.journal()
        keeper = self.keeper(journal)
        port = EvictionClient(self.client)
        settings = JobSettings(self.settings, most_active=self.most_active)
        return JobRoad(journal, keeper, port, settings, self._new_job, self.surroundings())

    def surroundings(self) -> Surroundings:
        """What is outside of the run."""
        clock = self.cluster.clock
        return Surroundings(
            calls=self.calls,
            paces=Paces(self.settings, now=clock.monotonic),
            open_calls=self.open_calls,
            halted=self.halted,
            why_not_call=lambda: "",
            clock=clock.monotonic,
            now=self.now,
            sleep=clock.sleep,
        )

    def now(self) -> datetime:
        """The time of day on the machine of the run."""
        return self.cluster.clock.now() + self.clock_is_ahead

    def keeper(self, journal: Journal) -> JobKeeper:
        """What takes single jobs on."""
        rooms = {self.provider: self.rooms()}
        return JobKeeper(self.objects, journal, rooms, self.terms, now=self.now)

    def journal(self) -> Journal:
        """Where jobs are kept."""
        if self.keeps_objects:
            return JobObjects(self.objects, "descheduler-test")
        return ConfigMapJobs(self.objects, "kube-system", "test")

    def rooms(self) -> ReservationProvider:
        """How room is held."""
        rooms: dict[str, ReservationProvider] = {
            "koordinator": ReservationRooms(self.objects, "test"),
            "placeholder": PlaceholderRooms(self.objects, "test"),
            "none": NoRooms(),
        }
        return rooms[self.provider]

    def create(self, wanted: NewJob) -> MigrationJob:
        """A new job."""
        journal = self.journal()
        return journal.create(wanted, journal.new_name())

    def jobs(self) -> tuple[MigrationJob, ...]:
        """The jobs that there are."""
        return self.journal().found().jobs

    def _new_job(self, eviction: PlannedEviction) -> NewJob:
        successors = successors_of(eviction)
        return NewJob(
            eviction.namespace,
            eviction.name,
            eviction.uid,
            self.mode,
            "a reason",
            eviction.plugin,
            self.provider,
            ttl=self.ttl,
            successors="" if successors is None else successors.encoded(),
            surge="" if self.surge is None else self.surge.encoded(),
            held_on=eviction.held_on,
            rooms=eviction.rooms,
        )

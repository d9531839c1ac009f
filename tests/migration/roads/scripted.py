"""Jobs whose looks find what a test scripts, carried out on a clock that passes by sleeping alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, cast

from msgspec.structs import replace

from descheduler.migration.dispatch.limits import LimitLedger
from descheduler.migration.dispatch.rechecks import Recheck
from descheduler.migration.job.conditions import succeeded, with_condition
from descheduler.migration.job.steps import End, Evict, WaitForChange
from descheduler.migration.recheck import Rechecked
from descheduler.migration.roads.job_task import JobTask, Turn
from descheduler.migration.roads.jobs import JobRoad
from descheduler.migration.roads.keeper import Progress
from descheduler.migration.settings import DispatchSettings, JobSettings
from descheduler.migration.store.journal import MemoryJobs, NewJob
from descheduler.model.koordinator.migration_job import JobConditionType, MigrationJob
from descheduler.model.pod import Owner, Pod
from descheduler.plan.outcome import Outcome
from descheduler.plan.planned import PlannedEviction
from tests.builders import NOW, make_pod
from tests.migration.stand_ins import Clock, ScriptedApi, around, make_eviction

Look = Callable[[MigrationJob], Progress]
"""What a look at a job finds. May raise."""
EVICTION = DispatchSettings(qps=1000.0, burst=1000, drain_seconds=3.0, effect_seconds=40.0, deadline=3600.0)
"""Its deadline ends what else would go on for ever."""
SETTINGS = JobSettings(EVICTION, budget_wait_seconds=5.0, budget_seconds=20.0, landing_seconds=30.0)


def pod_of(job: MigrationJob, uid: str = "") -> Pod:
    return make_pod(job.pod_name, namespace=job.pod_namespace, uid=uid or job.pod_uid, node="n1")


def may_leave(job: MigrationJob) -> Progress:
    """Its pod is to leave."""
    return Progress(job, Evict("Eviction"), pod_of(job))


def waits(job: MigrationJob) -> Progress:
    """Nothing is to be done about it."""
    return Progress(job, WaitForChange("something"), pod_of(job))


def ended(job: MigrationJob, replacement: Pod | None = None) -> Progress:
    """Its pod is gone."""
    gone = with_condition(job, JobConditionType.EVICTION, True, NOW)
    return Progress(succeeded(gone), End(), replacement=replacement)


def leaves(job: MigrationJob) -> Progress:
    """Its pod is to leave, and is replaced once it was asked to."""
    if job.found(JobConditionType.EVICTION) is None:
        return may_leave(job)
    return ended(job, make_pod(f"{job.pod_name}-new", node="n2", ready=True))


def fails(error: Exception) -> Look:
    """The look has no answer."""

    def look(job: MigrationJob) -> Progress:
        raise error

    return look


def move(name: str, *, workload: str = "", wave: int = 1, bundle: int = 0) -> PlannedEviction:
    """An eviction of a pod of this workload, of its own by default."""
    owner = Owner("ReplicaSet", workload or name, workload or name, "apps/v1", controller=True)
    return replace(make_eviction(name, bundle=bundle), controller=owner, wave=wave)


class World:
    """Evictions of pods as jobs; `looks` are by the name of a pod, one after the other, the last for ever."""

    def __init__(
        self,
        looks: Mapping[str, Sequence[Look]] | None = None,
        *,
        settings: JobSettings = SETTINGS,
        api: Mapping[str, Sequence[Any]] | None = None,
        recheck: Recheck[Turn] | None = None,
        ledger: LimitLedger | None = None,
        **surroundings: Any,
    ) -> None:
        self.clock = Clock()
        self._looks = {name: list(scripted) for name, scripted in (looks or {}).items()}
        self.looks: list[tuple[str, float]] = []
        """Names of pods whose jobs were looked at, and when."""
        self.undone: list[tuple[str, str, str]] = []
        """Names of pods whose jobs were undone, with phase and message."""
        self.created: list[tuple[str, float]] = []
        self.undo_fails: list[Exception] = []
        """Raised by the next calls that give back what is held."""
        self.read: Callable[[MigrationJob, Progress], Progress] = lambda job, progress: progress
        """What is found of a job whose turn comes late."""
        self.replacement: Pod | None = None
        """What is found of a pod for which no room was held."""
        self.api = ScriptedApi(self.clock, **cast(Any, dict(api or {})))
        self.stop = threading.Event()
        self.journal = MemoryJobs()
        there = replace(around(settings.eviction, self.clock, stop=self.stop), **surroundings)
        self.road = JobRoad(
            self.journal, cast(Any, self), cast(Any, self.api), settings, self._new_job, there, recheck, ledger
        )

    def run(self, *moves: PlannedEviction | JobTask) -> dict[str, Outcome]:
        """The outcome of each move, by the name of its pod."""
        tasks = [each if isinstance(each, JobTask) else JobTask(each) for each in moves]
        return {outcome.eviction.name: outcome for outcome in self.road.run(tasks)}

    def _new_job(self, eviction: PlannedEviction) -> NewJob:
        self.created.append((eviction.name, self.clock.now()))
        ttl = timedelta(minutes=5)
        return NewJob("shop", eviction.name, eviction.uid, "ReservationFirst", "", "Plugin", "rooms", ttl=ttl)

    def advance(self, job: MigrationJob, *, holds_only: bool = False, takes_turns: bool = True) -> Progress:
        """What a look at the job finds."""
        self.looks.append((job.pod_name, self.clock.now()))
        scripted = self._looks.get(job.pod_name) or [leaves]
        return (scripted.pop(0) if len(scripted) > 1 else scripted[0])(job)

    def read_again(self, job: MigrationJob, progress: Progress) -> Progress:
        """As it is found."""
        self.looks.append((f"turn of {job.pod_name}", self.clock.now()))
        return self.read(job, progress)

    def save(self, old: MigrationJob, new: MigrationJob) -> MigrationJob:
        """As it is wanted."""
        return new

    def undo(self, job: MigrationJob, end: Callable[[MigrationJob], MigrationJob]) -> MigrationJob:
        """Gives back what is held."""
        if self.undo_fails:
            raise self.undo_fails.pop(0)
        made = end(job)
        self.undone.append((job.pod_name, made.phase, made.message))
        return made

    def find_replacement(self, job: MigrationJob, eviction: PlannedEviction) -> Pod | None:
        """The pod that came where no room was held."""
        self.looks.append((f"landing of {job.pod_name}", self.clock.now()))
        return self.replacement

    def release_room(self, job: MigrationJob) -> None:
        """Gives back the room."""

    def release(self, job: MigrationJob) -> None:
        """Gives back the room."""

    def looks_at(self, name: str) -> list[float]:
        """When this was looked at."""
        return [at for each, at in self.looks if each == name]


def objecting(*names: str) -> Recheck[Turn]:
    """A recheck that objects to the moves of these pods."""

    def recheck(turns: Sequence[Turn], under_way: Collection[str], granted: Collection[str]) -> Rechecked:
        return Rechecked({turn.eviction.uid: "its node is full" for turn in turns if turn.eviction.name in names})

    return recheck


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)

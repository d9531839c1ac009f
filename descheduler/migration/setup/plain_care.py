"""What verified plans are carried out with where no jobs are kept: waves, and a look before each eviction.

An eviction that was made is a job in memory that holds no room: its pod is to leave, and its replacement to come.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from descheduler.cluster.snapshot import Snapshot
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.controller.job_keeper import JobKeeper
from descheduler.migration.dispatch.care import Care
from descheduler.migration.dispatch.departures import Arrival, Departures
from descheduler.migration.dispatch.rechecks import Rechecks
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.dispatch.task import EvictionTask
from descheduler.migration.job.conditions import with_condition
from descheduler.migration.job.machine import JobTerms
from descheduler.migration.pods import read_pod
from descheduler.migration.recheck.footprints import Asked, Footprints, Judged
from descheduler.migration.replacements import is_replaced
from descheduler.migration.room.none import NoRooms
from descheduler.migration.settings import ExecutorSettings
from descheduler.migration.store.journal import NewJob
from descheduler.migration.store.memory_jobs import MemoryJobs
from descheduler.model.koordinator.migration_job import JobConditionType, JobMode, JobReason, MigrationJob
from descheduler.plan.planned import PlannedEviction

__all__ = ["plain_care"]


def plain_care(objects: ObjectCalls, snapshot: Snapshot, settings: ExecutorSettings, around: Surroundings) -> Care:
    """The care for plain evictions of plans over `snapshot`."""
    footprints = Footprints(objects, snapshot, leaving_make_room=True)
    rechecks = Rechecks(_JudgeAgain(objects, footprints), around)
    return Care(Departures(_Landings(objects, around), around), rechecks, settings, around)


class _JudgeAgain:
    """Judges plain evictions by footprints; see `dispatch.rechecks.JudgeAgain`."""

    def __init__(self, objects: ObjectCalls, footprints: Footprints) -> None:
        self._objects = objects
        self._footprints = footprints

    def __call__(self, tasks: Sequence[EvictionTask], under_way: Collection[str], granted: Collection[str]) -> Judged:
        """Raises KubeError."""
        asked = [found for each in tasks if (found := self._asked(each.eviction)) is not None]
        return self._footprints.judge(asked, under_way, granted)

    def _asked(self, eviction: PlannedEviction) -> Asked | None:
        """What is to be judged; nothing where the pod is gone, which its eviction will tell.

        Room is looked for where the plan has: nobody promised any for other pods.
        """
        pod = read_pod(self._objects, eviction.namespace, eviction.name)
        if pod is None or pod.uid != eviction.uid:
            return None
        is_verified = eviction.landing is not None and bool(eviction.landing.node)
        return Asked(eviction, pod, has_landed=not is_verified)


class _Landings:
    """Makes jobs of evictions that were made; see `dispatch.departures.AwaitLanding`."""

    def __init__(self, objects: ObjectCalls, around: Surroundings) -> None:
        self._journal = MemoryJobs()
        terms = JobTerms(default_mode=JobMode.EVICT_DIRECTLY.value)
        self._keeper = JobKeeper(objects, self._journal, {NoRooms.name: NoRooms()}, terms, now=around.now)

    def __call__(self, eviction: PlannedEviction, asked_at: datetime) -> _Landing:
        """What says whether the pod is gone and replaced."""
        wanted = NewJob(
            namespace=eviction.namespace,
            name=eviction.name,
            uid=eviction.uid,
            mode=JobMode.EVICT_DIRECTLY.value,
            reason=eviction.reason,
            plugin=eviction.plugin,
            provider=NoRooms.name,
        )
        job = self._journal.create(wanted, self._journal.new_name())
        asked = with_condition(job, JobConditionType.EVICTION, False, asked_at, JobReason.EVICTING)
        return _Landing(self._keeper, self._journal.save(job, asked) or job, eviction)


class _Landing:
    """Looks at one job until it has ended, and then for the replacement."""

    def __init__(self, keeper: JobKeeper, job: MigrationJob, eviction: PlannedEviction) -> None:
        self._keeper = keeper
        self._job = job
        self._eviction = eviction

    def __call__(self, *, is_last: bool) -> Arrival:
        """Raises KubeError."""
        self._job = self._keeper.advance(self._job).job or self._job
        is_gone = self._job.has_ended
        if not is_replaced(self._eviction):
            return Arrival.SERVING if is_gone else Arrival.SCHEDULED
        if not (is_gone or is_last):
            return Arrival.AWAITED
        replacement = self._keeper.find_replacement(self._job, self._eviction)
        if replacement is None or not replacement.node_name:
            return Arrival.AWAITED
        return Arrival.SERVING if is_gone and replacement.is_ready else Arrival.SCHEDULED

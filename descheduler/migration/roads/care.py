"""The care with which a verified plan is carried out: waves, one pod of a workload at a time, and another look."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from datetime import datetime
from typing import Any

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.dispatch.judgement import Judgement, shown
from descheduler.migration.dispatch.rechecks import Rechecks, Taken
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.dispatch.task import EvictionTask
from descheduler.migration.dispatch.waves import Waves
from descheduler.migration.job.conditions import with_condition
from descheduler.migration.job.machine import JobTerms
from descheduler.migration.pods import read_pod
from descheduler.migration.recheck import Footprints, Rechecked
from descheduler.migration.replacements import is_replaced
from descheduler.migration.roads.departures import Arrival, Departures
from descheduler.migration.roads.keeper import JobKeeper
from descheduler.migration.roads.order import Order
from descheduler.migration.room.provider import NoRooms
from descheduler.migration.settings import DispatchSettings
from descheduler.migration.store.journal import MemoryJobs, NewJob
from descheduler.model.koordinator.migration_job import JobConditionType, JobMode, JobReason, MigrationJob
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.plan.planned import DueMove, PlannedEviction

_MOST_AT_ONCE = 64
"""So many are rechecked together."""
_MOST_ERRORS = 5
"""So many rechecks in a row may fail."""


class Care(msgspec.Struct, frozen=True):
    """What a verified plan is carried out with, in all rounds of a run."""

    departures: Departures
    rechecks: Rechecks[EvictionTask]
    settings: DispatchSettings
    around: Surroundings

    def order(self, tasks: Iterable[EvictionTask]) -> Order:
        """The order of `tasks`, which are new."""
        return _WithCare(tasks, self)


class _WithCare:
    """Wave by wave, of a workload one pod at a time, and each only if its move still holds.

    A wave is over once the pods that it evicted are gone and replaced, or have had their time for that. What is `known`
    is of the run, which may have begun more before.
    """

    def __init__(self, tasks: Iterable[EvictionTask], known: Care) -> None:
        self._waves = Waves[EvictionTask](tasks)
        self._departures = known.departures
        self._rechecks = known.rechecks
        self._around = known.around
        self._wait_seconds = known.settings.fault_wait_seconds
        begun_while_good = known.settings.burst + int(known.settings.qps * Rechecks.good_for_seconds)
        self._most_at_once = min(_MOST_AT_ONCE, begun_while_good)
        self._num_errors = 0
        self._not_before = 0.0
        """When judging that has just failed may be tried again."""
        self._under_way: list[EvictionTask] = []
        self._leaving: set[int] = set()
        """Bundles of which one has begun: the others follow, whatever has changed."""
        for task in self._departures.tasks:
            self._hold(task)

    def __bool__(self) -> bool:
        return bool(self._waves)

    def next(self) -> EvictionTask | None:
        """The first of the wave whose workload is free."""
        for task in self._departures.take_over():
            self._end(task)
        found = self._waves.next(is_full=False)
        if found is None and self._waves:
            self._departures.look()
        return found

    def is_ready(self, task: EvictionTask) -> bool:
        """Whether it was rechecked lately; else it is, with those that come after it."""
        if task.eviction.bundle in self._leaving or self._rechecks.is_good(task):
            return True
        may_begin = not self._rechecks.is_busy and self._around.clock() >= self._not_before
        if may_begin and not self._rechecks.is_waiting(task):
            under_way = {each.eviction.uid for each in self._under_way} | self._departures.lately
            granted = {each.eviction.uid for each in self._departures.tasks}
            self._rechecks.begin(self._upcoming(task), under_way, granted)
        return False

    def why_stays(self, task: EvictionTask) -> str:
        """Which replacement has no node that was to have one by now, unless others of its bundle have begun."""
        if task.eviction.bundle in self._leaving:
            return ""
        return self._departures.unscheduled.why_stays(task.eviction)

    def _upcoming(self, first: EvictionTask) -> list[EvictionTask]:
        """`first`, and as many after it as can begin while what is found now is good; bundles are whole."""
        chosen, busy = [first], {task.eviction.workload for task in (first, *self._under_way)}
        for task in self._in_wave():
            is_together = task.eviction.bundle and task.eviction.bundle == chosen[-1].eviction.bundle
            if not is_together and len(chosen) >= self._most_at_once:
                break
            if task is not first and (is_together or task.eviction.workload not in busy):
                busy.add(task.eviction.workload)
                chosen.append(task)
        return chosen

    def _in_wave(self) -> Iterator[EvictionTask]:
        return (task for task in self._waves if self._waves.has_come(task.eviction) and not task.eviction.dry)

    def remove(self, task: EvictionTask) -> None:
        """It waits no more."""
        self._waves.remove(task)

    def began(self, task: EvictionTask) -> None:
        """It is under way until its replacement serves."""
        self._hold(task)
        if task.eviction.bundle:
            self._leaving.add(task.eviction.bundle)

    def _hold(self, task: EvictionTask) -> None:
        """Has others wait for `task`, which may be of an earlier round."""
        self._waves.began(task)
        self._under_way.append(task)

    def ended(self, task: EvictionTask, kind: OutcomeKind) -> None:
        """Where the pod leaves, its replacement is awaited; where it stays, all that counted on that is rechecked."""
        if kind.uses_limits:
            self._departures.began(task)
            self._rechecks.wake()
        else:
            self._end(task)
            self._rechecks.forget()

    def _end(self, task: EvictionTask) -> None:
        self._waves.ended(task)
        self._under_way.remove(task)

    def take_over(self) -> Sequence[tuple[EvictionTask, Judgement]]:
        """Those whose moves do not hold any more."""
        taken = self._rechecks.take_over()
        over = () if taken is None else self._over(taken)
        over = [(task, ending) for task, ending in over if task in self._waves]
        for task, _ in over:
            self._waves.remove(task)
        return over

    def _over(self, taken: Taken[EvictionTask]) -> Sequence[tuple[EvictionTask, Judgement]]:
        """The endings of those that do not begin, by what a recheck has brought."""
        error = taken.error
        if error is None:
            self._num_errors = 0
            refused, changed = OutcomeKind.REFUSED, OutcomeCode.CHANGED
            return [(task, Judgement(refused, changed, why)) for task, why in taken.objections]
        self._num_errors += 1
        self._not_before = self._around.clock() + self._wait_seconds * 2.0 ** (self._num_errors - 1)
        if self._num_errors < _MOST_ERRORS:
            return ()
        self._num_errors, self._not_before = _MOST_ERRORS - 1, 0.0  # those that come next are not waited for as long
        why = f"not checked again before the eviction: {shown(error)}"
        judgement = Judgement(OutcomeKind.NOT_ATTEMPTED, OutcomeCode.SERVER_ERROR, why)
        return [(task, judgement) for task in taken.asked]

    def clear(self) -> Sequence[EvictionTask]:
        """All of them, by wave."""
        left = list(self._waves)
        for task in left:
            self._waves.remove(task)
        return left

    @property
    def awaited(self) -> Sequence[Future[Any]]:
        """The recheck and the looks that are under way."""
        return (*self._rechecks.awaited, *self._departures.awaited)


def plain_care(objects: ObjectCalls, snapshot: Snapshot, settings: DispatchSettings, around: Surroundings) -> Care:
    """The care for plain evictions of plans over `snapshot`."""
    footprints = Footprints(objects, snapshot, leaving_make_room=True)
    rechecks = Rechecks(_RecheckPlain(objects, footprints), around)
    return Care(Departures(_Landings(objects, around), around), rechecks, settings, around)


class _RecheckPlain:
    """Rechecks plain evictions by footprints; see `dispatch.rechecks.Recheck`."""

    def __init__(self, objects: ObjectCalls, footprints: Footprints) -> None:
        self._objects = objects
        self._footprints = footprints

    def __call__(
        self, tasks: Sequence[EvictionTask], under_way: Collection[str], granted: Collection[str]
    ) -> Rechecked:
        """Raises ExchangeError."""
        asked = [found for each in tasks if (found := self._asked(each.eviction)) is not None]
        return self._footprints.recheck(asked, under_way, granted)

    def _asked(self, eviction: PlannedEviction) -> DueMove | None:
        """What is to be rechecked; nothing where the pod is gone, which its eviction will tell.

        Room is looked for where the plan has: no room was promised for other pods.
        """
        pod = read_pod(self._objects, eviction.namespace, eviction.name)
        if pod is None or pod.uid != eviction.uid:
            return None
        is_verified = eviction.landing is not None and bool(eviction.landing.node)
        return DueMove(eviction, pod, has_landed=not is_verified)


class _Landings:
    """Makes jobs of evictions that were made; see `departures.AwaitLanding`."""

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
        """Raises ExchangeError."""
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

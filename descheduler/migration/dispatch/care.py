"""The care with which a verified plan is carried out: waves, one pod of a workload at a time, and another look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import msgspec

from descheduler.migration.dispatch.departures import Departures
from descheduler.migration.dispatch.judgement import Judgement, shown
from descheduler.migration.dispatch.order import Order
from descheduler.migration.dispatch.rechecks import Rechecks, Taken
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.dispatch.task import EvictionTask
from descheduler.migration.dispatch.waves import Waves
from descheduler.migration.settings import ExecutorSettings
from descheduler.plan.outcome import OutcomeCode, OutcomeKind

__all__ = ["Care"]

_MOST_AT_ONCE = 64
"""So many are judged together."""
_MOST_ERRORS = 5
"""So many judgements in a row may fail."""


class Care(msgspec.Struct, frozen=True):
    """What a verified plan is carried out with, in all rounds of a run."""

    departures: Departures
    rechecks: Rechecks[EvictionTask]
    settings: ExecutorSettings
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
        """Whether it was judged lately; else it is, with those that come after it."""
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
        """Where the pod leaves, its replacement is awaited; where it stays, all that counted on that is judged anew."""
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
        """The endings of those that do not begin, by what a judgement has brought."""
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
        """The judgement and the looks that are under way."""
        return (*self._rechecks.awaited, *self._departures.awaited)

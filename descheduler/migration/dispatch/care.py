"""The care with which a verified plan is carried out: waves, one pod of a workload at a time, and another look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import msgspec

from descheduler.migration.dispatch.departures import Departures
from descheduler.migration.dispatch.eviction_task import EvictionTask
from descheduler.migration.dispatch.judgement import Judgement
from descheduler.migration.dispatch.order import Order
from descheduler.migration.dispatch.rechecks import Rechecks
from descheduler.migration.dispatch.waves import Waves
from descheduler.plan.outcome import OutcomeKind

__all__ = ["Care"]


class Care(msgspec.Struct, frozen=True):
    """What a verified plan is carried out with, in all rounds of a run."""

    departures: Departures
    rechecks: Rechecks

    def order(self, tasks: Iterable[EvictionTask]) -> Order:
        """The order of `tasks`, which are new."""
        return _WithCare(tasks, self.departures, self.rechecks)


class _WithCare:
    """Wave by wave, of a workload one pod at a time, and each only if its move still holds.

    A wave is over once the pods that it evicted are gone and replaced, or have had their time for that. `departures`
    and `rechecks` are those of the run, which may have begun more before.
    """

    def __init__(self, tasks: Iterable[EvictionTask], departures: Departures, rechecks: Rechecks) -> None:
        self._waves = Waves[EvictionTask](tasks)
        self._departures = departures
        self._rechecks = rechecks
        self._under_way: list[EvictionTask] = []
        self._leaving: set[int] = set()
        """Bundles of which one has begun: the others follow, whatever has changed."""
        for task in departures.tasks:
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
        if not self._rechecks.is_waiting(task):
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
            if not is_together and len(chosen) >= self._rechecks.most_at_once:
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
        over = [(task, ending) for task, ending in self._rechecks.take_over() if task in self._waves]
        for task, _ in over:
            self._waves.remove(task)
        return over

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

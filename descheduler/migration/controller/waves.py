"""Evictions whose jobs are still to be created, wave by wave: the next wave needs the room that the last one leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from descheduler.migration.controller.task import JobTask
from descheduler.migration.controller.waiting import Waiting

__all__ = ["Waves"]


class Waves:
    """Tasks in their order. None begins before all of the waves before its own have ended, however they have."""

    def __init__(self, tasks: Iterable[JobTask] = ()) -> None:
        in_order = sorted(tasks, key=_wave)
        self._waves = [Waiting(wave) for _, wave in groupby(in_order, key=_wave)]
        self._under_way: set[JobTask] = set()
        self._current = 0

    def __bool__(self) -> bool:
        return any(map(len, self._waves))

    def __iter__(self) -> Iterator[JobTask]:
        return (task for wave in self._waves for task in wave)

    def __contains__(self, task: JobTask) -> bool:
        return any(task in wave for wave in self._waves)

    def next(self, *, is_full: bool) -> JobTask | None:
        """As `Waiting.next`, among the first wave that has not ended."""
        while self._current < len(self._waves) and not self._under_way and not self._waves[self._current]:
            self._current += 1
        return self._waves[self._current].next(is_full=is_full) if self._current < len(self._waves) else None

    def remove(self, task: JobTask) -> None:
        """The task waits no more."""
        next(wave for wave in self._waves if task in wave).remove(task)

    def began(self, task: JobTask) -> None:
        """A job of its workload is under way; that of an adopted job, which has no place in the plan, too."""
        if not task.is_adopted:
            self._under_way.add(task)
        for wave in self._waves:
            wave.began(task)

    def ended(self, task: JobTask) -> None:
        """That job is not under way any more."""
        self._under_way.discard(task)
        for wave in self._waves:
            wave.ended(task)


def _wave(task: JobTask) -> int:
    return task.eviction.wave

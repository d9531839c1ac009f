"""Evictions that are still to begin, wave by wave: the next wave needs the room that the last one leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Generic, TypeVar

from descheduler.migration.dispatch.waiting import InTurn, Waiting
from descheduler.plan.planned import PlannedEviction

__all__ = ["Waves"]

T = TypeVar("T", bound=InTurn)


class Waves(Generic[T]):
    """Tasks in their order. None begins before all of the waves before its own have ended, however they have.

    Those with `waves_ahead` begin as soon as one of their bundle has.
    """

    def __init__(self, tasks: Iterable[T] = ()) -> None:
        in_order = sorted(tasks, key=_wave)
        self._numbers = sorted(set(map(_wave, in_order)))
        self._waves = [Waiting(wave) for _, wave in groupby(in_order, key=_wave)]
        self._ahead = [task for task in in_order if task.waves_ahead]
        self._under_way: set[T] = set()
        self._current = 0

    def __bool__(self) -> bool:
        return any(map(len, self._waves))

    def __iter__(self) -> Iterator[T]:
        return (task for wave in self._waves for task in wave)

    def __contains__(self, task: T) -> bool:
        return any(task in wave for wave in self._waves)

    def next(self, *, is_full: bool) -> T | None:
        """As `Waiting.next`, among the first wave that has not ended; those that begin ahead go first."""
        while self._current < len(self._waves) and self._is_over(self._current):
            self._current += 1
        if (ahead := self._next_ahead()) is not None:
            return ahead
        if self._current == len(self._waves) or self._is_held_back(self._numbers[self._current]):
            return None
        return self._waves[self._current].next(is_full=is_full)

    def has_come(self, eviction: PlannedEviction) -> bool:
        """Whether all waves before its own have ended, as far as `next` has seen."""
        return self._current == len(self._waves) or eviction.wave <= self._numbers[self._current]

    def _is_over(self, index: int) -> bool:
        return not self._waves[index] and all(_wave(task) > self._numbers[index] for task in self._under_way)

    def _is_held_back(self, number: int) -> bool:
        """Whether some of a wave before that number are under way, which another plan of the run has begun."""
        return any(_wave(task) < number for task in self._under_way)

    def _next_ahead(self) -> T | None:
        begun = {task.eviction.bundle for task in self._under_way} if self._ahead else ()
        return next((task for task in self._ahead if task.eviction.bundle in begun), None)

    def remove(self, task: T) -> None:
        """The task waits no more."""
        if task in self._ahead:
            self._ahead.remove(task)
        next(wave for wave in self._waves if task in wave).remove(task)

    def began(self, task: T) -> None:
        """It is under way, and with it its workload, of an adopted one too."""
        if not task.is_adopted:
            self._under_way.add(task)
        for wave in self._waves:
            wave.began(task)

    def ended(self, task: T) -> None:
        """It is not under way any more."""
        self._under_way.discard(task)
        for wave in self._waves:
            wave.ended(task)


def _wave(task: InTurn) -> int:
    return task.eviction.wave

"""Evictions that are still to begin, wave by wave: the next wave needs the room that the last one leaves."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Generic, TypeVar

from descheduler.migration.dispatch.task import DispatchTask
from descheduler.plan.planned import PlannedEviction

T = TypeVar("T", bound=DispatchTask)


class Waiting(Generic[T]):
    """Tasks in their order, and how many of each workload are under way. A task costs the logarithm of all.

    Of a workload one pod moves at a time, but those of one bundle move together.
    """

    def __init__(self, tasks: Iterable[T] = ()) -> None:
        self._positions = {task: position for position, task in enumerate(tasks)}
        self._of_workload: dict[str, deque[T]] = defaultdict(deque)
        self._of_bundle: dict[int, deque[T]] = defaultdict(deque)
        for task in self._positions:
            self._of_workload[task.eviction.workload].append(task)
            if task.eviction.bundle:
                self._of_bundle[task.eviction.bundle].append(task)
        self._num_active: Counter[str] = Counter()
        self._active_bundles: Counter[int] = Counter()
        self._num_together: Counter[tuple[int, str]] = Counter()
        """How many are under way of each bundle in each workload."""
        self._heads = [(self._positions[tasks[0]], workload) for workload, tasks in self._of_workload.items()]
        """A heap of the first tasks of workloads. What is out of date is found when it comes to the top."""

    def __len__(self) -> int:
        return len(self._positions)

    def __iter__(self) -> Iterator[T]:
        return iter(list(self._positions))

    def __contains__(self, task: T) -> bool:
        return task in self._positions

    def next(self, *, is_full: bool) -> T | None:
        """The first task that may begin, None where there is none; while all is full one whose bundle has begun."""
        first = None if is_full else self._first_of_free()
        candidates = [task for task in (first, *map(self._first_of_bundle, self._active_bundles)) if task is not None]
        return min(candidates, key=self._positions.__getitem__, default=None)

    def remove(self, task: T) -> None:
        """The task waits no more."""
        del self._positions[task]

    def began(self, task: T) -> None:
        """It is under way."""
        self._count(task, 1)

    def ended(self, task: T) -> None:
        """It is not under way any more."""
        self._count(task, -1)
        workload = task.eviction.workload
        if not self._num_active[workload] and (head := self._first(self._of_workload[workload])) is not None:
            heapq.heappush(self._heads, (self._positions[head], workload))

    def _count(self, task: T, number: int) -> None:
        workload, bundle = task.eviction.workload, task.eviction.bundle
        self._num_active[workload] += number
        if bundle:
            self._num_together[bundle, workload] += number
            self._active_bundles[bundle] += number
            if not self._active_bundles[bundle]:
                del self._active_bundles[bundle]

    def _first_of_free(self) -> T | None:
        """The first task of all workloads of which none is under way."""
        while self._heads:
            position, workload = self._heads[0]
            head = None if self._num_active[workload] else self._first(self._of_workload[workload])
            if head is not None and self._positions[head] == position:
                return head
            heapq.heappop(self._heads)
            if head is not None and self._positions[head] > position:
                heapq.heappush(self._heads, (self._positions[head], workload))
        return None

    def _first_of_bundle(self, bundle: int) -> T | None:
        """The first task of a bundle whose workload has none under way but those of the bundle."""
        tasks = self._of_bundle[bundle]
        self._first(tasks)
        free = (task for task in tasks if task in self._positions and self._is_free(bundle, task.eviction.workload))
        return next(free, None)

    def _is_free(self, bundle: int, workload: str) -> bool:
        return self._num_active[workload] == self._num_together[bundle, workload]

    def _first(self, tasks: deque[T]) -> T | None:
        """The first of `tasks` that still waits; those before it are dropped."""
        while tasks and tasks[0] not in self._positions:
            tasks.popleft()
        return tasks[0] if tasks else None


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


def _wave(task: DispatchTask) -> int:
    return task.eviction.wave

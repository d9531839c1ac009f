"""In which order plain evictions begin."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from descheduler.migration.dispatch.judgement import Judgement
from descheduler.migration.dispatch.task import EvictionTask
from descheduler.plan.outcome import OutcomeKind


class Order(Protocol):
    """The evictions that have not begun."""

    def __bool__(self) -> bool:
        """Whether there are any."""

    def next(self) -> EvictionTask | None:
        """The one that is next; None while all of them have to wait for others."""

    def is_ready(self, task: EvictionTask) -> bool:
        """Whether `task`, which is next, may be called now; it is seen to that it soon may."""

    def why_stays(self, task: EvictionTask) -> str:
        """Why `task`, which is next, does not begin any more because of pods that left before; "" where it may."""

    def remove(self, task: EvictionTask) -> None:
        """It waits no more."""

    def began(self, task: EvictionTask) -> None:
        """Its first call is made."""

    def ended(self, task: EvictionTask, kind: OutcomeKind) -> None:
        """Nothing more is called for `task`, which had begun."""

    def take_over(self) -> Sequence[tuple[EvictionTask, Judgement]]:
        """Those that wait no more because their moves do not hold any more, and how they end."""

    def clear(self) -> Sequence[EvictionTask]:
        """All of them, which wait no more."""

    @property
    def awaited(self) -> Sequence[Future[Any]]:
        """The calls on which it depends whether one may begin."""


class AsPlanned:
    """One after the other, whatever became of those before: as kubernetes-sigs/descheduler evicts."""

    def __init__(self, tasks: Iterable[EvictionTask]) -> None:
        self._tasks = deque(tasks)

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def next(self) -> EvictionTask | None:
        """The first."""
        return self._tasks[0] if self._tasks else None

    def is_ready(self, task: EvictionTask) -> bool:
        """Always."""
        return True

    def why_stays(self, task: EvictionTask) -> str:
        """Nothing."""
        return ""

    def remove(self, task: EvictionTask) -> None:
        """It is the first."""
        self._tasks.remove(task)

    def began(self, task: EvictionTask) -> None:
        """No later task waits for it."""

    def ended(self, task: EvictionTask, kind: OutcomeKind) -> None:
        """No later task waits for it."""

    def take_over(self) -> Sequence[tuple[EvictionTask, Judgement]]:
        """None."""
        return ()

    def clear(self) -> Sequence[EvictionTask]:
        """All of them."""
        left = list(self._tasks)
        self._tasks.clear()
        return left

    @property
    def awaited(self) -> Sequence[Future[Any]]:
        """None."""
        return ()

"""Pods that were evicted, until their replacements serve: what has to wait for that is held back so long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import partial
from typing import Protocol

from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.dispatch.task import EvictionTask
from descheduler.plan.planned import PlannedEviction
from descheduler.transport.errors import ExchangeError


class Arrival(Enum):
    """How far the replacement of an evicted pod is."""

    AWAITED = "awaited"
    """It has no node."""
    SCHEDULED = "scheduled"
    """It has one, or none is to come."""
    SERVING = "serving"
    """It is ready, or none is to come, and the evicted pod is gone."""


class Look(Protocol):
    """What looks at one of them, on threads. Raises ExchangeError."""

    def __call__(self, *, is_last: bool) -> Arrival:
        """How far its replacement is; one that is there before the pod is gone is looked for at the last look alone."""


AwaitLanding = Callable[[PlannedEviction, datetime], Look]
"""Makes that look, of an eviction and of when it was asked for at the latest."""

_PATIENCE_SECONDS = 120.0
"""For so long at most others wait for one replacement."""
_LISTED_SECONDS = 30.0
"""After so long a replacement is listed by the API server, if one comes at all."""
_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 3.0


@dataclass(slots=True)
class _Departure:
    """One of them, looked at next when `due`, in seconds of the run's clock."""

    look_at: Look
    since: float
    due: float
    num_looks: int = 0
    look: Future[Arrival] | None = None
    is_last: bool = False


class Unscheduled:
    """Evicted pods whose replacements had no node in time: the room for those that come after them is not certain."""

    def __init__(self) -> None:
        self._evictions: list[PlannedEviction] = []

    def note(self, eviction: PlannedEviction) -> None:
        """It is one of them."""
        self._evictions.append(eviction)

    def why_stays(self, eviction: PlannedEviction) -> str:
        """Why it does not begin any more: one of an earlier wave or of its workload is among them; "" else."""
        for each in self._evictions:
            if eviction.wave > each.wave or eviction.workload == each.workload:
                pod = f"{each.namespace}/{each.name}"
                return f"the replacement of pod {pod} was not scheduled within {_PATIENCE_SECONDS:g} s"
        return ""


class Departures:
    """The departures of one run. They are looked at once a task waits. `around.calls` makes the calls."""

    def __init__(self, await_landing: AwaitLanding, around: Surroundings) -> None:
        self._await_landing = await_landing
        self._around = around
        self._under_way: dict[EvictionTask, _Departure] = {}
        self.unscheduled = Unscheduled()

    @property
    def tasks(self) -> Sequence[EvictionTask]:
        """Whose replacements have not been seen to serve yet."""
        return list(self._under_way)

    @property
    def lately(self) -> set[str]:
        """UIDs of pods whose replacements may not be listed yet."""
        since = self._around.clock() - _LISTED_SECONDS
        return {task.eviction.uid for task, each in self._under_way.items() if each.since >= since}

    @property
    def awaited(self) -> Sequence[Future[Arrival]]:
        """The looks that are under way."""
        return [each.look for each in self._under_way.values() if each.look is not None and not each.look.done()]

    def began(self, task: EvictionTask) -> None:
        """The pod of `task` leaves, or may."""
        now = self._around.clock()
        self._under_way[task] = _Departure(self._await_landing(task.eviction, self._around.now()), now, now)

    def look(self) -> None:
        """Has all looked at that are due."""
        now = self._around.clock()
        for each in self._under_way.values():
            if each.look is None and each.due <= now:
                each.is_last = now - each.since >= _PATIENCE_SECONDS
                each.look = self._around.calls.submit(partial(each.look_at, is_last=each.is_last))

    def take_over(self) -> Sequence[EvictionTask]:
        """The tasks that need no wait any more."""
        now = self._around.clock()
        over = [task for task, each in self._under_way.items() if self._is_over(task.eviction, each, now)]
        for task in over:
            del self._under_way[task]
        return over

    def _is_over(self, eviction: PlannedEviction, each: _Departure, now: float) -> bool:
        if each.look is None or not each.look.done():
            return False
        look, each.look = each.look, None
        arrival = _found(look)
        if each.is_last and arrival is Arrival.AWAITED:
            self.unscheduled.note(eviction)
        each.due = now + min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2.0 ** min(each.num_looks, 8))
        each.num_looks += 1
        return each.is_last or arrival is Arrival.SERVING


def _found(look: Future[Arrival]) -> Arrival:
    """What a look has found; nothing where it had no answer."""
    try:
        return look.result()
    except ExchangeError:
        return Arrival.AWAITED

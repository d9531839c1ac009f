"""Pods that were evicted, until their replacements serve: what has to wait for that is held back so long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from descheduler.kube.errors import KubeError
from descheduler.migration.dispatch.eviction_task import EvictionTask
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.plan.planned import PlannedEviction

__all__ = ["AwaitLanding", "Departures"]

AwaitLanding = Callable[[PlannedEviction, datetime], Callable[[], bool]]
"""Makes of an eviction, and of when it was asked for at the latest, what says whether the pod is gone and replaced.

That is called on threads and raises KubeError.
"""

_PATIENCE_SECONDS = 120.0
"""For so long at most others wait for one replacement."""
_LISTED_SECONDS = 30.0
"""After so long a replacement is listed by the API server, if one comes at all."""
_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 3.0


@dataclass(slots=True)
class _Departure:
    """One of them, looked at next when `due`, in seconds of the run's clock."""

    has_landed: Callable[[], bool]
    since: float
    due: float
    num_looks: int = 0
    look: Future[bool] | None = None


class Departures:
    """Those of one run. Nobody looks at any before somebody waits. `around.calls` makes the calls."""

    def __init__(self, await_landing: AwaitLanding, around: Surroundings) -> None:
        self._await_landing = await_landing
        self._around = around
        self._under_way: dict[EvictionTask, _Departure] = {}

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
    def awaited(self) -> Sequence[Future[bool]]:
        """The looks that are under way."""
        return [each.look for each in self._under_way.values() if each.look is not None and not each.look.done()]

    def began(self, task: EvictionTask) -> None:
        """The pod of `task` leaves, or may."""
        now = self._around.clock()
        has_landed = self._await_landing(task.eviction, self._around.now())
        self._under_way[task] = _Departure(has_landed, now, now)

    def look(self) -> None:
        """Has all looked at that are due."""
        now = self._around.clock()
        for each in self._under_way.values():
            if each.look is None and each.due <= now:
                each.look = self._around.calls.submit(each.has_landed)

    def take_over(self) -> Sequence[EvictionTask]:
        """Those that nobody has to wait for any more."""
        now = self._around.clock()
        over = [task for task, each in self._under_way.items() if self._is_over(each, now)]
        for task in over:
            del self._under_way[task]
        return over

    def _is_over(self, each: _Departure, now: float) -> bool:
        if each.look is not None and each.look.done():
            look, each.look = each.look, None
            if _found(look):
                return True
            each.due = now + min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2.0 ** min(each.num_looks, 8))
            each.num_looks += 1
        return now - each.since >= _PATIENCE_SECONDS


def _found(look: Future[Any]) -> bool:
    """What a look has found; nothing where it had no answer."""
    try:
        return bool(look.result())
    except KubeError:
        return False

"""Evictions that come next, rechecked together right before they begin."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Generic, Protocol, TypeVar

import msgspec

from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.recheck import Rechecked
from descheduler.plan.planned import PlannedEviction

_GOOD_FOR_SECONDS = 5.0
"""A move that has waited longer for the pace since its recheck is rechecked again."""


class InQuestion(Protocol):
    """What is rechecked, known by its identity."""

    @property
    def eviction(self) -> PlannedEviction:
        """What it is for."""


T = TypeVar("T", bound=InQuestion)

Recheck = Callable[[Sequence[T], Collection[str], Collection[str]], Rechecked]
"""Rechecks moves, given the UIDs of pods that leave already or may, and of those that leave for certain.

Called on a thread. Raises ExchangeError.
"""


class Taken(msgspec.Struct, Generic[T], frozen=True):
    """What a recheck of `asked` has brought: why moves do not hold any more, or else what went wrong with it."""

    asked: Sequence[T]
    objections: Sequence[tuple[T, str]] = ()
    error: Exception | None = None


class Rechecks(Generic[T]):
    """The rechecks of one run. For the thread that dispatches; `around.calls` makes the calls."""

    good_for_seconds = _GOOD_FOR_SECONDS

    def __init__(self, recheck: Recheck[T], around: Surroundings) -> None:
        self._recheck = recheck
        self._around = around
        self._good_until: dict[T, float] = {}
        self._waiting: set[T] = set()
        """Those that need the room of pods whose evictions have no answer."""
        self._asked: Sequence[T] = ()
        self._future: Future[Rechecked] | None = None
        self._is_outdated = False
        self._has_changed = False

    @property
    def is_busy(self) -> bool:
        """Whether a recheck is under way, or has come and was not taken."""
        return self._future is not None

    @property
    def awaited(self) -> Sequence[Future[Rechecked]]:
        """The recheck that is awaited, if any."""
        return () if self._future is None or self._future.done() else (self._future,)

    def is_good(self, move: T) -> bool:
        """Whether `move` was rechecked lately, and holds."""
        return self._around.clock() <= self._good_until.get(move, -1.0)

    def is_waiting(self, move: T) -> bool:
        """Whether no other answer can be expected of `move` before there is an answer to the eviction of another."""
        return move in self._waiting

    def begin(self, moves: Sequence[T], under_way: Collection[str], granted: Collection[str] = ()) -> None:
        """Has `moves` rechecked, while no other recheck is under way."""
        self._asked, self._has_changed = moves, False
        self._future = self._around.calls.submit(partial(self._recheck, moves, under_way, granted))

    def forget(self) -> None:
        """What was found may not be so any more, nor what the recheck that is awaited finds."""
        self._good_until.clear()
        self._is_outdated = self._future is not None
        self.wake()

    def wake(self) -> None:
        """An eviction has its answer: what waits for one may be rechecked."""
        self._waiting.clear()
        self._has_changed = True

    def take_over(self) -> Taken[T] | None:
        """What the last recheck has brought, once."""
        if self._future is None or not self._future.done():
            return None
        future, self._future = self._future, None
        is_outdated, self._is_outdated = self._is_outdated, False
        if is_outdated:
            return None
        try:
            found = future.result()
        except Exception as error:
            return Taken(self._asked, error=error)
        now, objections = self._around.clock(), found.objections
        waiting = {move for move in self._asked if move.eviction.uid in found.waiting}
        self._waiting = set() if self._has_changed else waiting
        still_good = {move: until for move, until in self._good_until.items() if now <= until}
        good = (move for move in self._asked if move.eviction.uid not in objections and move not in waiting)
        self._good_until = still_good | dict.fromkeys(good, now + _GOOD_FOR_SECONDS)
        return Taken(self._asked, [(move, why) for move in self._asked if (why := objections.get(move.eviction.uid))])

"""Looks after the cluster while a run evicts, every few seconds, and remembers what a guard said."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from descheduler.kube.errors import KubeError
from descheduler.migration.guards.api_errors import ApiErrors
from descheduler.migration.guards.guard import Guard
from descheduler.migration.guards.health import Health

__all__ = ["Watchman"]


class Watchman:
    """To be asked as often as one likes, from any thread; `submit` makes `read` every `period_seconds` of `clock`.

    What it could not read it does not know: the API server's errors are for `errors` to judge.
    """

    def __init__(
        self,
        read: Callable[[], Health],
        guards: Sequence[Guard],
        errors: ApiErrors,
        *,
        submit: Callable[[Callable[[], Health]], Future[Any]],
        clock: Callable[[], float],
        period_seconds: float,
    ) -> None:
        self._read = read
        self._guards = guards
        self.errors = errors
        self._submit = submit
        self._clock = clock
        self._period_seconds = period_seconds
        self._future: Future[Any] | None = None
        self._due = clock()
        self._start: Health | None = None
        self._lock = threading.Lock()
        self.tripped = ""
        """Why the run has to stop; "" while it has not."""

    def look(self) -> str:
        """Why the run has to stop, "" while it has not."""
        if not self.tripped and self._lock.acquire(blocking=False):
            try:
                self.tripped = self.errors.why()
                self._take()
                self._begin()
            finally:
                self._lock.release()
        return self.tripped

    def _begin(self) -> None:
        if self._future is None and self._clock() >= self._due:
            self._due = self._clock() + self._period_seconds
            self._future = self._submit(self._read)

    def _take(self) -> None:
        if self._future is None or not self._future.done():
            return
        future, self._future = self._future, None
        try:
            now: Health = future.result()
        except KubeError:
            return
        self._start = self._start or now
        for guard in self._guards:
            self.tripped = self.tripped or guard.why(self._start, now)

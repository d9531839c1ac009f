"""Looks after the cluster while a run evicts, every few seconds, and remembers what a guard said."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from descheduler.migration.guards.guard import Guard
from descheduler.migration.guards.health import Health
from descheduler.transport.errors import ExchangeError

__all__ = ["ApiErrors", "Watchman"]


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
        except ExchangeError:
            return
        self._start = self._start or now
        for guard in self._guards:
            self.tripped = self.tripped or guard.why(self._start, now)


_WINDOW = 50
_LEAST_CALLS = 20


class ApiErrors:
    """Counts the latest calls, from any thread. `most_percent` of them may fail."""

    def __init__(self, most_percent: int) -> None:
        self._most_percent = most_percent
        self._latest: deque[bool] = deque(maxlen=_WINDOW)

    def note(self, status_code: int) -> None:
        """Takes note of an answer; 0 stands for none that can be used. A 429 may be a budget's and is no error."""
        self._latest.append(status_code == 0 or status_code >= 500)

    def why(self) -> str:
        """What is wrong, to be read after "stopped by"; "" while nothing is."""
        latest = list(self._latest)
        num_errors = sum(latest)
        if len(latest) < _LEAST_CALLS or 100 * num_errors <= self._most_percent * len(latest):
            return ""
        return (
            f"{num_errors} errors in the last {len(latest)} API calls (guards.maxAPIErrorRate: {self._most_percent}%)"
        )

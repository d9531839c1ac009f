"""A clock that stands still until somebody sleeps or calls the API, and then runs all that is due on the way."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tests.builders import NOW


class VirtualClock:
    """Seconds since the cluster was made, and the time of day that goes with them.

    `lock` is that of the whole cluster: whoever lets time pass, or answers a request, holds it. Time passes by `sleep`
    alone, until `follow_real_time` is called.
    """

    def __init__(self, *, start: datetime = NOW) -> None:
        self.lock = threading.RLock()
        self.owner = threading.get_ident()
        """The thread that lets time pass; what others wait for they wait for in real time."""
        self.on_tick: list[Callable[[], object]] = []
        """Called after each thing that was due."""
        self._start = start
        self._scale: float | None = None
        self._real_start = 0.0
        self._seconds = 0.0
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = itertools.count()

    @property
    def is_virtual(self) -> bool:
        """Whether time passes by sleeping alone."""
        return self._scale is None

    def monotonic(self) -> float:
        """Seconds since the start."""
        return self._seconds

    def now(self) -> datetime:
        """The time of day, in UTC."""
        return self._start + timedelta(seconds=self._seconds)

    def text(self) -> str:
        """`now` as Kubernetes writes it, in whole seconds."""
        return rfc3339(self.now())

    def after(self, seconds: float, call: Callable[[], object]) -> None:
        """Has `call` made in `seconds`; what is due at the same time runs in the order in which it was asked for."""
        heapq.heappush(self._due, (self._seconds + max(seconds, 0.0), next(self._numbers), call))

    def sleep(self, seconds: float) -> None:
        """Lets `seconds` pass."""
        if self._scale is not None:
            time.sleep(max(seconds, 0.0) / self._scale)
            self.catch_up()
            return
        with self.lock:
            self._run_until(self._seconds + max(seconds, 0.0))

    def follow_real_time(self, scale: float = 1.0) -> None:
        """From now on it is as late as it really is, time passes `scale` times as fast, and sleeping really waits."""
        self._scale = scale
        self._real_start = time.monotonic() - self._seconds / scale
        self._start = datetime.now(UTC) - timedelta(seconds=self._seconds)

    def stand_still(self) -> None:
        """From now on time passes by `sleep` alone again."""
        self.catch_up()
        self._scale = None

    def catch_up(self) -> None:
        """Runs what has come due by real time; does nothing for a clock that does not follow it."""
        if self._scale is not None:
            with self.lock:
                self._run_until((time.monotonic() - self._real_start) * self._scale)

    def settle(self, *, until_seconds: float = 600.0) -> None:
        """Lets everything happen that is due within `until_seconds`, and stops at the last of it."""
        with self.lock:
            end = self._seconds + until_seconds
            while self._due and self._due[0][0] <= end:
                self._run_until(self._due[0][0])

    @property
    def next_due_seconds(self) -> float | None:
        """How long it is until something happens by itself; None when nothing is due."""
        return max(self._due[0][0] - self._seconds, 0.0) if self._due else None

    def _run_until(self, end: float) -> None:
        while self._due and self._due[0][0] <= end:
            at, _, call = heapq.heappop(self._due)
            self._seconds = max(self._seconds, at)
            call()
            for tick in self.on_tick:
                tick()
        self._seconds = max(self._seconds, end)


def rfc3339(at: datetime) -> str:
    """An aware UTC time in whole seconds."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def to_time(text: str) -> datetime:
    """What `rfc3339` wrote, or Kubernetes with a fraction of the second."""
    return datetime.fromisoformat(text)

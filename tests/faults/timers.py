"""What happens later: one thread that calls functions at their time, and all that are left at the end."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable


class Timers:
    """Calls functions with the monotonic time that they were set for."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int, bool, Callable[[float], object]]] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="timers", daemon=True)
        self._thread.start()

    def after(self, seconds: float, call: Callable[[float], object], *, is_fact: bool = True) -> None:
        """Has `call` made in `seconds`. At the end a fact is brought forward, anything else is forgotten."""
        with self._changed:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._numbers), is_fact, call))
            self._changed.notify()

    def finish(self) -> None:
        """Calls what is left of facts in order, each with its own time, and ends the thread."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join()
        while self._due:
            at, _, is_fact, call = heapq.heappop(self._due)
            if is_fact:
                call(at)

    def _run(self) -> None:
        while True:
            with self._changed:
                if self._ended:
                    return
                wait_seconds = self._due[0][0] - time.monotonic() if self._due else None
                if wait_seconds is None or wait_seconds > 0:
                    self._changed.wait(wait_seconds)
                    continue
                at, _, _, call = heapq.heappop(self._due)
            call(at)

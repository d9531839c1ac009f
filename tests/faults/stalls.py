"""For how long this machine had no time for anybody: bounds on the program's time must not measure that."""

from __future__ import annotations

import threading
import time

__all__ = ["Stalls"]

_TICK_SECONDS = 0.05


class Stalls:
    """A thread that should wake every tick, and notes by how much it was late."""

    def __init__(self) -> None:
        self._late: list[tuple[float, float]] = []
        threading.Thread(target=self._watch, name="stalls", daemon=True).start()

    def seconds_between(self, start: float, end: float) -> float:
        """Seconds lost between two monotonic times."""
        return sum(seconds for at, seconds in list(self._late) if start <= at <= end)

    def _watch(self) -> None:
        while True:
            asleep_at = time.monotonic()
            time.sleep(_TICK_SECONDS)
            late_seconds = time.monotonic() - asleep_at - _TICK_SECONDS
            if late_seconds > _TICK_SECONDS:
                self._late.append((time.monotonic(), late_seconds))

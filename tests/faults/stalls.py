"""For how long this machine had no time for anybody: bounds on the program's time must not measure that."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path

_TICK_SECONDS = 0.05


class Stalls:
    """A thread that should wake every tick, and notes by how much it was late: so long the server was deaf."""

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


class QueueTimes:
    """For how long the threads of one process were ready to run and had no processor, as Linux counts it.

    Elsewhere it is 0. Threads that end between two looks count with what was seen last.
    """

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}/task")
        self._nanoseconds: dict[str, int] = {}

    @property
    def seconds(self) -> float:
        """The sum over all threads that were seen."""
        return sum(self._nanoseconds.values()) / 1e9

    def look(self) -> None:
        """Reads the figures of the threads that are there."""
        self._nanoseconds.update(self._read())

    def _read(self) -> Mapping[str, int]:
        found = {}
        try:
            for task in self._folder.iterdir():
                found[task.name] = int((task / "schedstat").read_text().split()[1])
        except (OSError, IndexError, ValueError):  # the thread or the process has just ended
            return found
        return found

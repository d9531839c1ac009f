"""How far a run is with its search or its evictions, in one line for a terminal."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from descheduler.plan.search_watch import SearchState

if TYPE_CHECKING:
    from descheduler.plan.outcome import Outcome

_TICK_SECONDS = 1.0
_SHORTEST_SECONDS = 0.1
"""Between two changes of the line."""
_LEAST_TIMED_SECONDS = 1.0
"""Less tells no rate: the first evictions are a burst."""
_NUM_TIMED = 20
"""Evictions that the rate is taken from: enough to be steady, few enough to forget the burst at the start."""
_WORDS = {"refused": "refused", "failed": "failed", "gone": "already gone", "background": "in the background"}


class EvictionProgress:
    """Has `show` show a line such as `Evicted 37 of 120 pods, 5.0/s, 17 s left, 2 refused`.

    `show` replaces the line it showed before, "" ends it. `clock` gives monotonic seconds.
    """

    def __init__(self, show: Callable[[str], None], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._show = show
        self._clock = clock
        self._num_planned = 0
        self._counts: Counter[str] = Counter()
        self._ended: deque[float] = deque(maxlen=_NUM_TIMED)
        self._shown_at = -_SHORTEST_SECONDS

    def planned(self, num_evictions: int) -> None:
        """Takes note of how many evictions there are in all, those that ended included."""
        self._num_planned = num_evictions
        self._change(is_due=True)

    def record(self, outcome: Outcome) -> None:
        """Takes note of how an eviction ended."""
        self._counts[str(outcome.kind.value)] += 1
        self._ended.append(self._clock())
        self._change(is_due=self._ended[-1] - self._shown_at >= _SHORTEST_SECONDS)

    def end(self) -> None:
        """Takes the line away."""
        self._show("")

    @property
    def text(self) -> str:
        """The line as it stands."""
        return ", ".join(self._parts())

    def _change(self, *, is_due: bool) -> None:
        if is_due and self._num_planned:
            self._shown_at = self._clock()
            self._show(self.text)

    def _parts(self) -> Iterator[str]:
        pods = "pod" if self._num_planned == 1 else "pods"
        yield f"Evicted {self._counts['evicted']} of {self._num_planned} {pods}"
        num_left = self._num_planned - self._counts.total()
        if rate := self._rate():
            yield f"{rate:.1f}/s"
            if num_left > 0:
                yield f"{_duration(num_left / rate)} left"
        yield from (f"{self._counts[kind]} {words}" for kind, words in _WORDS.items() if self._counts[kind])

    def _rate(self) -> float:
        """Evictions that end a second, 0.0 while that is unknown."""
        seconds = self._ended[-1] - self._ended[0] if self._ended else 0.0
        return (len(self._ended) - 1) / seconds if seconds >= _LEAST_TIMED_SECONDS else 0.0


class SearchProgressLine:
    """Has `show` show a line such as `Best plan so far: 9 nodes in use → 7 with 98 evictions; 20 of 60 s`, each second.

    `show` replaces the line it showed before, "" ends it. `hint` is what the reader can do, by whether there is a plan.
    """

    def __init__(
        self,
        show: Callable[[str], None],
        hint: Callable[[bool], str],
        *,
        clock: Callable[[], float] = time.monotonic,
        tick_seconds: float = _TICK_SECONDS,
    ) -> None:
        self._show, self._hint = show, hint
        self._clock, self._tick_seconds = clock, tick_seconds
        self._started = 0.0
        self._ended = threading.Event()
        self.state: SearchState | None = None
        """The latest of the search that runs, or ran last."""

    def note(self, state: SearchState | None) -> None:
        """Takes note of how far the search is; None ends the line."""
        if state is None:
            self._ended.set()
            self._show("")
            return
        is_first = self.state is None or self._ended.is_set()
        self.state = state
        if is_first:
            self._started, self._ended = self._clock(), threading.Event()
            threading.Thread(target=self._tick, args=(self._ended,), daemon=True).start()
        self._show(self.text)

    @property
    def text(self) -> str:
        """The line as it stands."""
        state = self.state
        if state is None:
            return ""
        seconds = f"{self._clock() - self._started:.0f}"
        of_limit = f" of {state.most_seconds:.0f}" if state.most_seconds < math.inf else ""
        hint = self._hint(state.has_plan)
        return f"{state.text}; {seconds}{of_limit} s{f'. {hint}' if hint else ''}"

    def _tick(self, ended: threading.Event) -> None:
        while not ended.wait(self._tick_seconds):
            self._show(self.text)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"

"""How long a search may take: seconds of a clock, or work, which is the same on every machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Ending = Literal["", "work", "time", "cancelled"]
"""What ended a search: nothing, as all was done that it could do, one of its limits, or its caller."""

_PAIRS_OF_A_CALL = 30_000
"""What numpy's own time for the calls of one evaluation is worth."""
_UNITS_A_SECOND = 1.0
"""How much work is done in a second by a core that does nothing else."""
_MOST_OF_REST = 0.6
"""Of the seconds that are left, what one stretch takes at most."""
_LEAST_SECONDS, _LEAST_SHARE = 5.0, 0.25
"""What a part of a search may take at least, in seconds and of the whole time, where it is to end by its work."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What ends a search, whichever comes first; None: never.

    `work` counts the solver's deterministic seconds and the local search's evaluations (one unit for 10^8 of them), so
    that a search with a limit of work and none of time finds the same plan on every machine and run.
    """

    seconds: float | None = None
    work: float | None = None

    def __post_init__(self) -> None:
        """Raises ValueError where nothing would end the search."""
        if self.seconds is None and self.work is None:
            raise ValueError("limits: neither seconds nor work is given, one of them is needed")

    def scaled(self, ratio: float) -> Limits:
        """That much of each."""
        return Limits(
            None if self.seconds is None else self.seconds * ratio, None if self.work is None else self.work * ratio
        )


class Budget:
    """What is left of `limits` in one search. `is_cancelled` is asked often and must be cheap."""

    def __init__(
        self,
        limits: Limits,
        is_cancelled: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
        whole: Budget | None = None,
    ) -> None:
        self._limits, self._is_cancelled, self._clock = limits, is_cancelled, clock
        self._started = clock()
        self._whole = whole
        self.spent = 0.0

    @property
    def seconds(self) -> float:
        """Since the start."""
        return self._clock() - self._started

    def spend(self, work: float) -> None:
        """Takes note of work that was done."""
        self.spent += work
        if self._whole is not None:
            self._whole.spend(work)

    def spend_evaluations(self, count: int, *, calls: int = 1) -> None:
        """Takes note of array operations over `count` pairs of pod and node, or of pod and pod, and resource in all."""
        self.spend((count + calls * _PAIRS_OF_A_CALL) * 1e-8)

    @property
    def is_over(self) -> bool:
        """Whether the search has to end."""
        if self.is_cancelled:
            return True
        return self.seconds_left <= 0 or (self._limits.work is not None and self.spent >= self._limits.work)

    @property
    def ending(self) -> Ending:
        """What has the search end now, if anything does."""
        if self.is_cancelled:
            return "cancelled"
        if self.seconds_left <= 0:
            return "time"
        return "work" if self.is_over else ""

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody ended the search before its limits."""
        return self._is_cancelled()

    @property
    def seconds_left(self) -> float:
        """Infinity where only work is limited."""
        return float("inf") if self._limits.seconds is None else self._limits.seconds - self.seconds

    @property
    def work_left(self) -> float:
        """Infinity where only seconds are limited."""
        return float("inf") if self._limits.work is None else max(self._limits.work - self.spent, 0.0)

    @property
    def progress(self) -> float:
        """0 at the start to 1 when the search has to end, by whichever limit is nearer."""
        by_time = self.seconds / self._limits.seconds if self._limits.seconds else 0.0
        by_work = self.spent / self._limits.work if self._limits.work else 0.0
        return min(max(by_time, by_work), 1.0)

    def share(self, ratio: float) -> Limits:
        """That much of the whole budget, or all that is left of it where that is less.

        A short part would often end by its time where the process stands still for a moment, although work limits the
        whole: it may take longer then, so that equal input gives equal plans.
        """
        work = self._limits.work
        return Limits(self._seconds_of_part(ratio), None if work is None else min(ratio * work, self.work_left))

    def stretch(self, length: float) -> Limits:
        """So much more work, or so many seconds where only these are limited, as far as that is left.

        Of a search with more time it is the same. Some of the seconds are left for what is made of the part.
        """
        seconds = None if self._limits.seconds is None else max(_MOST_OF_REST * self.seconds_left, 0.0)
        if self._limits.work is not None:
            return Limits(seconds, max(min(length, self.work_left), 0.0))
        return Limits(length if seconds is None else min(length, seconds))

    def half_of_rest(self) -> Budget:
        """A budget of half of what is left, with a clock that starts now; what it spends is spent here, too."""
        seconds = None if self._limits.seconds is None else max(self.seconds_left, 0.0) / 2.0
        work = None if self._limits.work is None else self.work_left / 2.0
        return self.part(Limits(seconds, work), self._is_cancelled)

    def _seconds_of_part(self, ratio: float) -> float | None:
        seconds, work = self._limits.seconds, self._limits.work
        if seconds is None:
            return None
        part = ratio * seconds
        if work is not None and work <= seconds * _UNITS_A_SECOND:
            part = max(part, min(_LEAST_SECONDS, _LEAST_SHARE * seconds))
        return max(min(part, self.seconds_left), 0.0)

    def part(self, limits: Limits, is_cancelled: Callable[[], bool] = lambda: False) -> Budget:
        """A budget with `limits` of its own and a clock that starts now; what it spends is spent here, too."""
        return Budget(limits, is_cancelled, self._clock, self)

"""What a run goes by from outside: threads, clocks, the pace, its open calls, and who stops it or hears of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from datetime import datetime
from typing import Any, Protocol, TypeVar

import msgspec

from descheduler.migration.dispatch.pace import Paces
from descheduler.migration.listeners import JobListener
from descheduler.migration.ports import OutcomeSink
from descheduler.plan.outcome import OutcomeCode
from descheduler.plan.planned import PlannedEviction
from descheduler.transport.errors import ExchangeError

_T = TypeVar("_T")

_SLICE_SECONDS = 0.1
"""Between two looks at whether the run is halted."""
_PATIENCE_SECONDS = 1.5
"""What is under way when the time of the run is over has that long to come to an end."""

HALTED = {
    OutcomeCode.STOPPED: "the run was interrupted",
    OutcomeCode.DEADLINE: "--deadline exceeded",
    OutcomeCode.LEASE_LOST: "the Lease was lost, another run may be active",
    OutcomeCode.OVERLOADED: "the API server was overloaded for too long",
    OutcomeCode.GUARD: "a guard of MigrationController stopped the run; the next run decides again",
}


_TIME_IS_OVER = frozenset({OutcomeCode.STOPPED, OutcomeCode.DEADLINE, OutcomeCode.LEASE_LOST})


class Halting:
    """Asked before every step.

    `deadline` is in seconds of `clock`, None for none. `why_not_call` says why no call may be made, else "".
    `tripped` says what a guard has found, else "".
    """

    def __init__(
        self,
        stop: threading.Event,
        deadline: float | None,
        why_not_call: Callable[[], str],
        clock: Callable[[], float],
        tripped: Callable[[], str] = lambda: "",
    ) -> None:
        self._stop = stop
        self._deadline = deadline
        self._why_not_call = why_not_call
        self._clock = clock
        self._tripped = tripped

    def __call__(self) -> tuple[OutcomeCode, str] | None:
        """The code and the sentence of what halts the run, None while nothing does."""
        code = self._code()
        return None if code is None else (code, HALTED[code])

    def _code(self) -> OutcomeCode | None:
        if self._stop.is_set():
            return OutcomeCode.LEASE_LOST if self._why_not_call() else OutcomeCode.STOPPED
        if self._tripped():
            return OutcomeCode.GUARD
        is_late = self._deadline is not None and self._clock() >= self._deadline
        return OutcomeCode.DEADLINE if is_late else None


class CallRunner(Protocol):
    """Where calls are made: on threads in a run, at once in a test."""

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """The future of `call`."""


class OpenCalls:
    """The evictions of one run that were asked for and whose fate is not known.

    `effect_seconds` is for how long a call without an answer may still take effect, `now` a monotonic clock in seconds.
    Written by the thread that executes; the same thread may read it from a signal handler, at any point.
    """

    def __init__(self, effect_seconds: float, *, now: Callable[[], float]) -> None:
        self._effect_seconds = effect_seconds
        self._now = now
        self._settles_at: dict[str, tuple[PlannedEviction, float | None]] = {}
        """By uid. None while a call is under way: the server may get it only now."""

    def began(self, eviction: PlannedEviction) -> None:
        """A call is about to be sent."""
        self._settles_at[eviction.uid] = (eviction, None)

    def doubted(self, eviction: PlannedEviction, settles_at: float) -> None:
        """No call is under way, and those before may take effect until then."""
        self._settles_at[eviction.uid] = (eviction, settles_at)

    def ended(self, eviction: PlannedEviction) -> None:
        """The pod's fate is known."""
        self._settles_at.pop(eviction.uid, None)

    @property
    def seconds_left(self) -> float:
        """For how long any of them may still take effect; 0 when none can."""
        now = self._now()
        ends = (now + self._effect_seconds if at is None else at for _, at in list(self._settles_at.values()))
        return max(0.0, max(ends, default=now) - now)

    @property
    def pods(self) -> Sequence[str]:
        """`namespace/name` of each, in the order of their first calls."""
        return [f"{eviction.namespace}/{eviction.name}" for eviction, _ in list(self._settles_at.values())]


class Surroundings(msgspec.Struct, frozen=True):
    """What a run goes by from outside.

    `halted` says why nothing further may be evicted, with the sentence for it; None while it may. `why_not_call` is
    asked right before an eviction is sent, and says why it may not be, else "". `clock` is monotonic, in seconds; `now`
    is aware UTC. `sink` hears of outcomes and `listener` of jobs; `tell` takes what the report of the run is to say, a
    sentence.
    """

    calls: CallRunner
    paces: Paces
    open_calls: OpenCalls
    halted: Callable[[], tuple[OutcomeCode, str] | None]
    why_not_call: Callable[[], str]
    clock: Callable[[], float]
    now: Callable[[], datetime]
    sleep: Callable[[float], None]
    sink: OutcomeSink | None = None
    listener: JobListener | None = None
    tell: Callable[[str], None] = lambda note: None

    def in_time(self, doing: str, work: Callable[[], _T], *, give_up: Callable[[], None]) -> _T:
        """What `work`, which makes calls, returns or raises; it has a short time left once that of the run is over.

        Then it is left behind: `give_up` has it write nothing any more, and ExchangeError says what it was `doing`,
        such as "took up jobs".
        """
        under_way, patience = self.calls.submit(work), _PATIENCE_SECONDS
        while not under_way.done():
            wait([under_way], timeout=_SLICE_SECONDS)
            halted = self.halted()
            if halted is not None and halted[0] in _TIME_IS_OVER:
                patience -= _SLICE_SECONDS
            if patience <= 0.0:
                give_up()
                raise ExchangeError(f"the run ended while it {doing}")
        found: _T = under_way.result()
        return found

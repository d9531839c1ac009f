"""Why a run may evict nothing more."""

from __future__ import annotations

import threading
from collections.abc import Callable

from descheduler.plan.outcome import OutcomeCode

__all__ = ["HALTED", "Halting"]

HALTED = {
    OutcomeCode.STOPPED: "the run was interrupted",
    OutcomeCode.DEADLINE: "--deadline exceeded",
    OutcomeCode.LEASE_LOST: "the Lease was lost, another run may be active",
    OutcomeCode.OVERLOADED: "the API server was overloaded for too long",
    OutcomeCode.GUARD: "a guard of MigrationController stopped the run; the next run decides again",
}


class Halting:
    """Asked before every step. `deadline` is in seconds of `clock`, None for none; `may_call` says why not, else "".

    `tripped` says what a guard has found, else "".
    """

    def __init__(
        self,
        stop: threading.Event,
        deadline: float | None,
        may_call: Callable[[], str],
        clock: Callable[[], float],
        tripped: Callable[[], str] = lambda: "",
    ) -> None:
        self._stop = stop
        self._deadline = deadline
        self._may_call = may_call
        self._clock = clock
        self._tripped = tripped

    def __call__(self) -> tuple[OutcomeCode, str] | None:
        """The code and the sentence of what halts the run, None while nothing does."""
        code = self._code()
        return None if code is None else (code, HALTED[code])

    def _code(self) -> OutcomeCode | None:
        if self._stop.is_set():
            return OutcomeCode.LEASE_LOST if self._may_call() else OutcomeCode.STOPPED
        if self._tripped():
            return OutcomeCode.GUARD
        is_late = self._deadline is not None and self._clock() >= self._deadline
        return OutcomeCode.DEADLINE if is_late else None

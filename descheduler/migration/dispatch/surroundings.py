"""What the controller of a run goes by from outside: threads, clocks, the pace, and who stops it or hears of it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime
from typing import Any, Protocol

import msgspec

from descheduler.migration.dispatch.open_calls import OpenCalls
from descheduler.migration.dispatch.pace import Paces
from descheduler.migration.events.job_listener import JobListener
from descheduler.migration.ports import OutcomeSink
from descheduler.plan.outcome import OutcomeCode

__all__ = ["Background", "Surroundings"]


class Background(Protocol):
    """Where calls are made: on threads in a run, at once in a test."""

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """The future of `call`."""


class Surroundings(msgspec.Struct, frozen=True):
    """What a run goes by from outside.

    `halted` says why nothing further may be evicted, with the sentence for it; None while it may. `may_call` is asked
    right before an eviction is sent, and says why not, else "". `clock` is monotonic, in seconds; `now` is aware UTC.
    `sink` hears of outcomes and `listener` of jobs; `tell` takes what the report of the run is to say, a sentence.
    """

    calls: Background
    paces: Paces
    open_calls: OpenCalls
    halted: Callable[[], tuple[OutcomeCode, str] | None]
    may_call: Callable[[], str]
    clock: Callable[[], float]
    now: Callable[[], datetime]
    sleep: Callable[[float], None]
    sink: OutcomeSink | None = None
    listener: JobListener | None = None
    tell: Callable[[str], None] = lambda note: None

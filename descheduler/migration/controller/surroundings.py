"""What a run of the controller goes by from outside: its clocks, its pace, its threads, and what may end it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime
from typing import Protocol

import msgspec

from descheduler.kube.evict import EvictionResponse
from descheduler.migration.controller.job_keeper import Progress
from descheduler.migration.open_calls import OpenCalls
from descheduler.migration.paces import Paces
from descheduler.migration.ports import OutcomeSink
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.plan.outcome import OutcomeCode

__all__ = ["Answer", "Background", "Surroundings"]

Answer = Progress | EvictionResponse | MigrationJob | dict[str, str] | None


class Background(Protocol):
    """Where calls are made: on threads in a run, at once in a test."""

    def submit(self, call: Callable[[], Answer]) -> Future[Answer]:
        """The future of `call`."""


class Surroundings(msgspec.Struct, frozen=True):
    """What a run goes by from outside.

    `halted` says why nothing further may be evicted, with the sentence for it; None while it may. `may_call` is asked
    right before an eviction is sent, and says why not, else "". `clock` is monotonic, in seconds; `now` is aware UTC.
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

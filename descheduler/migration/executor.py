"""Carries evictions out in plan order, at a pace, several at a time, until done, out of time or told to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from descheduler.kube.evict import EvictionResponse
from descheduler.migration.execution import Execution
from descheduler.migration.limits import EvictionLimits
from descheduler.migration.outcome import Outcome
from descheduler.migration.planned import PlannedEviction

__all__ = ["EvictPort", "ExecutorSettings", "OutcomeSink", "execute", "sleep_unless"]

_SLICE_SECONDS = 0.1


class EvictPort(Protocol):
    """Evicts one pod; `descheduler.kube.evict.EvictionClient` is the real one. Called from several threads."""

    def evict(
        self,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_period_seconds: int | None,
        annotations_reason: str,
        dry_run: bool = False,
    ) -> EvictionResponse:
        """The response to one call; a KubeError it raises becomes a failed outcome."""


class OutcomeSink(Protocol):
    """Hears of every outcome as soon as it is known, in order of ending, from the thread that executes."""

    def record(self, outcome: Outcome) -> None:
        """Takes note; must neither block nor raise."""


@dataclass(frozen=True, slots=True)
class ExecutorSettings:
    """How a plan is carried out.

    `qps` and `burst` pace every call, calls made again included; `max_in_flight` calls may wait for their answer at
    once, so that latency does not cap the pace. `deadline` is in the seconds of the run's monotonic clock, None for
    none: no call starts at or after it. An answer that asks to wait is obeyed up to `max_retries` times a pod and
    `longest_wait_seconds` each; a call without answer is made again up to `max_fault_retries` times, after
    `fault_wait_seconds`. `drain_seconds` bounds the wait for calls in flight once the run stops or is out of time.
    """

    qps: float = 5.0
    burst: int = 10
    max_in_flight: int = 64
    grace_period_seconds: int | None = None
    dry_run: bool = False
    evictions_in_background: bool = False
    limits: EvictionLimits = field(default_factory=EvictionLimits)
    deadline: float | None = None
    max_retries: int = 10
    longest_wait_seconds: float = 60.0
    max_fault_retries: int = 2
    fault_wait_seconds: float = 1.0
    drain_seconds: float = 30.0

    def __post_init__(self) -> None:
        if self.max_in_flight < 1:
            raise ValueError(f"max_in_flight is {self.max_in_flight}, at least 1 is needed")


def execute(
    evictions: Iterable[PlannedEviction],
    port: EvictPort,
    settings: ExecutorSettings,
    *,
    stop: threading.Event,
    sink: OutcomeSink | None = None,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] | None = None,
) -> tuple[Outcome, ...]:
    """One outcome for each planned eviction, in plan order.

    First calls start in plan order. Nothing is sent for a repeated request, for a uid that was requested before, or
    once `stop` is set (by a signal handler, say); calls in flight are then awaited. `now` is a monotonic clock in
    seconds. Raises ValueError for a pace that is not positive, and whatever other than KubeError `port` raises.
    """
    execution = Execution(
        evictions, port, settings, stop=stop, sink=sink, now=now, sleep=sleep or sleep_unless(stop)
    )
    return execution.run()


def sleep_unless(stop: threading.Event) -> Callable[[float], None]:
    """A sleep in seconds that ends early once `stop` is set.

    It looks at the flag instead of waiting for it: a signal handler that sets the flag while its own thread waits
    inside `Event.wait` can deadlock on the event's lock.
    """

    def sleep(seconds: float) -> None:
        until = time.monotonic() + seconds
        while not stop.is_set() and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _SLICE_SECONDS))

    return sleep

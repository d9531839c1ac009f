"""Carries evictions out in plan order, at a pace, several at a time, until done, out of time or told to stop."""

from __future__ import annotations

import heapq
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from functools import partial

from descheduler.kube.background import BackgroundCalls
from descheduler.kube.errors import KubeError
from descheduler.kube.evict import EvictionResponse
from descheduler.kube.token_bucket import TokenBucket
from descheduler.migration.call_window import CallWindow
from descheduler.migration.limits import LimitLedger, Room
from descheduler.migration.outcome import Judgement, Outcome, OutcomeCode, OutcomeKind, judge, judge_conclusively
from descheduler.migration.planned import PlannedEviction
from descheduler.migration.ports import EvictPort, OutcomeSink
from descheduler.migration.settings import ExecutorSettings

__all__ = ["execute", "sleep_unless"]

_SLICE_SECONDS = 0.1
"""How long the dispatcher may be deaf to the stop flag."""

_HALTED = {
    OutcomeCode.STOPPED: "the run was told to stop before its turn came",
    OutcomeCode.DEADLINE: "the run's time was over before its turn came",
    OutcomeCode.OVERLOADED: "the API server was overloaded for too long before its turn came",
}

_NOT_LOOKED_AT = {OutcomeCode.NO_CONNECTION, OutcomeCode.OVERLOADED}
"""Answers that say nothing about the pod: the API server was not reached, or turned the call away unread."""


def execute(
    evictions: Iterable[PlannedEviction],
    port: EvictPort,
    settings: ExecutorSettings,
    *,
    stop: threading.Event,
    sink: OutcomeSink | None = None,
    bucket: TokenBucket | None = None,
    may_call: Callable[[], str] = lambda: "",
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] | None = None,
) -> tuple[Outcome, ...]:
    """One outcome for each planned eviction, in plan order.

    `bucket` paces the calls together with others that take from it; without one the settings say the pace. First
    calls start in plan order. Nothing is sent for a repeated request, for a uid that was requested before, or
    once `stop` is set (by a signal handler, say); calls in flight are then awaited. `may_call` is asked right before
    each call, from the thread that makes it: "", or why none may start any more; it must set `stop` then. `now` is a
    monotonic clock in seconds. Raises whatever other than KubeError `port` raises.
    """
    execution = _Execution(
        evictions,
        port,
        settings,
        stop=stop,
        sink=sink,
        bucket=bucket or TokenBucket(settings.qps, settings.burst, now=now),
        may_call=may_call,
        now=now,
        sleep=sleep or sleep_unless(stop),
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


@dataclass(order=True, slots=True)
class _Task:
    """One planned eviction on its way; compared by when it may be asked again, then by place in the plan."""

    ready_at: float
    position: int
    eviction: PlannedEviction = field(compare=False)
    num_attempts: int = field(default=0, compare=False)
    num_faults: int = field(default=0, compare=False)
    num_unsent: int = field(default=0, compare=False)
    status_code: int = field(default=0, compare=False)
    judgement: Judgement | None = field(default=None, compare=False)
    is_booked: bool = field(default=False, compare=False)

    @property
    def subject(self) -> str:
        return f"pod {self.eviction.namespace}/{self.eviction.name}"


class _Execution:
    """The dispatcher of one run. All state belongs to the calling thread; threads of the pool only make the calls."""

    def __init__(
        self,
        evictions: Iterable[PlannedEviction],
        port: EvictPort,
        settings: ExecutorSettings,
        *,
        stop: threading.Event,
        sink: OutcomeSink | None,
        bucket: TokenBucket,
        may_call: Callable[[], str],
        now: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self._port = port
        self._settings = settings
        self._stop = stop
        self._sink = sink
        self._now = now
        self._sleep = sleep
        self._bucket = bucket
        self._may_call = may_call
        self._ledger = LimitLedger(settings.limits)
        self._calls: BackgroundCalls[EvictionResponse | None] = BackgroundCalls(settings.max_in_flight, name="evict")
        self._queue = deque(_Task(0.0, position, eviction) for position, eviction in enumerate(evictions))
        self._retries: list[_Task] = []
        self._in_flight: dict[Future[EvictionResponse | None], _Task] = {}
        self._window = CallWindow(settings.max_in_flight, now)
        self._cut_off_since: float | None = None
        self._is_overload_lasting = False
        self._requested: set[str] = set()
        self._outcomes: dict[int, Outcome] = {}

    def run(self) -> tuple[Outcome, ...]:
        try:
            while self._queue or self._retries or self._in_flight:
                if (halted := self._halted()) is not None:
                    self._abandon_waiting(halted)
                    self._drain()
                elif (wait_seconds := self._start_next()) > 0:
                    self._pause(wait_seconds)
                self._collect()
        finally:
            self._calls.close()
        return tuple(self._outcomes[position] for position in sorted(self._outcomes))

    def _halted(self) -> OutcomeCode | None:
        if self._stop.is_set():
            return OutcomeCode.STOPPED
        if self._is_overload_lasting:
            return OutcomeCode.OVERLOADED
        deadline = self._settings.deadline
        return OutcomeCode.DEADLINE if deadline is not None and self._now() >= deadline else None

    def _start_next(self) -> float:
        """Starts one call and returns 0, else the seconds after which one might start."""
        task, wait_seconds = self._choose()
        if task is None:
            return wait_seconds
        if (wait_seconds := self._bucket.try_take()) > 0:
            return wait_seconds
        if task.num_attempts:
            heapq.heappop(self._retries)
        else:
            self._queue.popleft()
            self._requested.add(task.eviction.uid)
            self._ledger.book(task.eviction)
            task.is_booked = True
        task.num_attempts += 1
        self._in_flight[self._calls.submit(partial(self._call, task.eviction))] = task
        return 0.0

    def _choose(self) -> tuple[_Task | None, float]:
        """The task to start next, a due repetition first; else None and the seconds to wait."""
        if not self._window.has_room(len(self._in_flight)):
            return None, _SLICE_SECONDS
        if (shut_seconds := self._window.shut_seconds) > 0:
            return None, shut_seconds
        until_retry = self._retries[0].ready_at - self._now() if self._retries else _SLICE_SECONDS
        if self._retries and until_retry <= 0:
            return self._retries[0], 0.0
        while self._queue:
            task = self._queue[0]
            reason = self._never_sent(task.eviction)
            room, limit = self._ledger.room_for(task.eviction) if reason is None else (Room.FULL, "")
            if room is Room.FREE:
                return task, 0.0
            if room is Room.AWAITED:
                break
            self._queue.popleft()
            code, text = reason or (OutcomeCode.LIMIT, limit)
            self._finish(task, OutcomeKind.NOT_ATTEMPTED, code, f"{task.subject} not evicted: {text}")
        return None, until_retry if self._retries or self._in_flight else 0.0

    def _never_sent(self, eviction: PlannedEviction) -> tuple[OutcomeCode, str] | None:
        if eviction.repeated or eviction.uid in self._requested:
            return OutcomeCode.REPEATED, "it was requested before in this run"
        if not eviction.uid:
            return OutcomeCode.NO_UID, "it has no uid, so a successor with its name could be hit"
        return None

    def _call(self, eviction: PlannedEviction) -> EvictionResponse | None:
        """Runs on a thread of the pool; None when the run was halted between the decision and the call."""
        if self._halted() is not None or self._may_call():
            return None
        return self._port.evict(
            eviction.namespace,
            eviction.name,
            uid=eviction.uid,
            grace_period_seconds=self._settings.grace_period_seconds,
            annotations_reason=eviction.annotation,
            dry_run=self._settings.dry_run,
        )

    def _pause(self, seconds: float) -> None:
        if self._in_flight:
            wait(self._in_flight, timeout=min(seconds, _SLICE_SECONDS), return_when=FIRST_COMPLETED)
            return
        deadline = self._settings.deadline
        self._sleep(seconds if deadline is None else min(seconds, max(0.0, deadline - self._now())))

    def _collect(self) -> None:
        for future in [future for future in self._in_flight if future.done()]:
            task = self._in_flight.pop(future)
            try:
                response = future.result()
            except KubeError as error:
                text = f"{task.subject} not evicted: {error}"
                self._finish(task, OutcomeKind.FAILED, OutcomeCode.NO_CONNECTION, text)
                continue
            if response is None:
                task.num_attempts -= 1
                self._abandon(task, self._halted() or OutcomeCode.STOPPED)
            else:
                self._weigh(task, response)

    def _weigh(self, task: _Task, response: EvictionResponse) -> None:
        """Ends the task, or has it wait for its repetition."""
        settings = self._settings
        task.status_code = response.status_code
        judgement = judge_conclusively(
            task.eviction,
            judge(
                task.eviction,
                response,
                evictions_in_background=settings.evictions_in_background,
                fault_wait_seconds=settings.fault_wait_seconds,
            ),
            earlier_unanswered=task.num_faults > 0,
        )
        task.judgement = judgement
        self._watch_server(judgement)
        if self._may_repeat(task, judgement):
            task.num_faults += judgement.code is OutcomeCode.NO_ANSWER
            task.num_unsent += judgement.code in _NOT_LOOKED_AT
            task.ready_at = self._now() + (judgement.retry_after_seconds or 0.0)
            heapq.heappush(self._retries, task)
        else:
            self._is_overload_lasting |= judgement.code is OutcomeCode.OVERLOADED
            self._finish(task, judgement.kind, judgement.code, judgement.message)

    def _watch_server(self, judgement: Judgement) -> None:
        """Notes since when no call gets through to the API server, and how many at once it can bear."""
        if judgement.code is OutcomeCode.OVERLOADED:
            self._window.turned_away(judgement.retry_after_seconds or 0.0)
        if judgement.code not in _NOT_LOOKED_AT:
            self._window.served()
            self._cut_off_since = None
        elif self._cut_off_since is None:
            self._cut_off_since = self._now()

    def _may_repeat(self, task: _Task, judgement: Judgement) -> bool:
        settings, wait_seconds = self._settings, judgement.retry_after_seconds
        if wait_seconds is None or wait_seconds > settings.longest_wait_seconds:
            return False
        if settings.deadline is not None and self._now() + wait_seconds >= settings.deadline:
            return False
        if judgement.code is OutcomeCode.NO_ANSWER:
            return task.num_faults < settings.max_fault_retries
        if self._cut_off_since is not None:
            return self._now() + wait_seconds <= self._cut_off_since + settings.longest_outage_seconds
        return task.num_attempts - task.num_faults - task.num_unsent <= settings.max_retries

    def _abandon_waiting(self, halted: OutcomeCode) -> None:
        waiting = [*self._queue, *sorted(self._retries, key=lambda task: task.position)]
        self._queue.clear()
        self._retries.clear()
        for task in waiting:
            self._abandon(task, halted)

    def _abandon(self, task: _Task, halted: OutcomeCode) -> None:
        """Ends a task that is not called again: with its last answer, else as not attempted."""
        if task.judgement is not None:
            self._finish(task, task.judgement.kind, task.judgement.code, task.judgement.message)
            return
        code, text = self._never_sent(task.eviction) or (halted, _HALTED[halted])
        self._finish(task, OutcomeKind.NOT_ATTEMPTED, code, f"{task.subject} not evicted: {text}")

    def _drain(self) -> None:
        """Waits for the calls in flight, and gives those up that have no answer when patience ends."""
        give_up_at = self._now() + self._settings.drain_seconds
        while any(not future.done() for future in self._in_flight) and self._now() < give_up_at:
            wait(self._in_flight, timeout=_SLICE_SECONDS)
        self._collect()
        for task in self._in_flight.values():
            seconds = self._settings.drain_seconds
            text = f"{task.subject} may or may not be evicted: no answer within {seconds:g} s after the run was halted"
            self._finish(task, OutcomeKind.FAILED, OutcomeCode.OUTCOME_UNKNOWN, text)
        self._in_flight.clear()

    def _finish(self, task: _Task, kind: OutcomeKind, code: OutcomeCode, message: str) -> None:
        outcome = Outcome(task.eviction, kind, code, message, task.status_code, task.num_attempts)
        if task.is_booked:
            counts = kind in {OutcomeKind.EVICTED, OutcomeKind.BACKGROUND} or code is OutcomeCode.OUTCOME_UNKNOWN
            self._ledger.settle(task.eviction, counts=counts)
        self._outcomes[task.position] = outcome
        if self._sink is not None:
            self._sink.record(outcome)

"""The dispatcher of all evictions: their tasks are begun, rechecked and called, several at once, until each ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Generic, Protocol, TypeVar

from descheduler.kube.evict import EvictionResponse
from descheduler.migration.dispatch.bundles import Bundles
from descheduler.migration.dispatch.judgement import Judgement, judge
from descheduler.migration.dispatch.limits import LimitLedger, MayStart
from descheduler.migration.dispatch.surroundings import HALTED, CallRunner, Surroundings
from descheduler.migration.dispatch.task import DispatchTask
from descheduler.migration.settings import DispatchSettings
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind

SLICE_SECONDS = 0.1
"""How long the dispatcher may be deaf to the stop flag."""

T = TypeVar("T", bound=DispatchTask)
TaskT = TypeVar("TaskT", bound=DispatchTask, contravariant=True)


class Road(Protocol[TaskT]):
    """The steps of tasks of one kind, which the dispatcher has made one after the other, on its own thread.

    Those that return a boolean say whether they did anything, so that more may be done at once.
    """

    @property
    def is_going(self) -> bool:
        """Whether there are tasks that have not ended."""

    def begin(self) -> bool:
        """Has the next task begin, where one may, and leaves those out that never do."""

    def advance(self) -> bool:
        """Has looked at what is due."""

    def recheck(self) -> bool:
        """Has the moves rechecked that come next."""

    def call(self) -> bool:
        """Has the next pod evicted, when the pace allows."""

    def take_over(self) -> None:
        """Takes judgements that have come."""

    def take(self, task: TaskT, answer: Any) -> None:
        """A call for `task` has brought `answer`."""

    def failed(self, task: TaskT, error: Exception) -> None:
        """A call for `task` has ended without an answer."""

    def wind_up(self, code: OutcomeCode, why: str) -> None:
        """Ends all tasks: the run is halted."""

    @property
    def idle_seconds(self) -> float:
        """After how long something may be done where nothing is under way."""

    @property
    def awaited(self) -> Sequence[Future[Any]]:
        """The judgements and looks on which it depends whether something begins."""


class Dispatcher(Generic[T]):
    """What all tasks of one run have in common, whatever their road. For the thread that calls `run`.

    `calls` makes the calls, each for a task, or what is `around`. Limits are those of `ledger`, else of the settings.
    Tasks are known by their positions.
    """

    def __init__(
        self,
        settings: DispatchSettings,
        around: Surroundings,
        ledger: LimitLedger | None = None,
        calls: CallRunner | None = None,
    ) -> None:
        self.bundles = Bundles[T](())
        self.patience = around.paces.patience
        self.is_fenced = False
        """Whether another run may be active."""
        self.stopped_by: tuple[OutcomeCode, str] | None = None
        """What has halted the run, once its tasks are wound up."""
        self._calls = calls or around.calls
        self._settings = settings
        self._around = around
        self._ledger = ledger or LimitLedger(settings.limits)
        self._under_way: dict[Future[Any], T] = {}
        self._outcomes: dict[int, Outcome] = {}

    def run(self, road: Road[T], bundles: Bundles[T]) -> tuple[Outcome, ...]:
        """One outcome for each task, in the order of their positions."""
        self.bundles = bundles
        while road.is_going or self._under_way:
            if (halted := self.halted()) is not None:
                self.stopped_by = halted
                road.wind_up(*halted)
                break
            has_begun = road.begin() | road.advance() | road.recheck() | road.call()
            if not has_begun and (road.is_going or self._under_way):
                self._pause(road)
            self.collect(road)
        return tuple(self._outcomes[position] for position in sorted(self._outcomes))

    def halted(self) -> tuple[OutcomeCode, str] | None:
        """Why nothing further may be evicted: what is `around` says so, or the server was overloaded for too long."""
        if self.is_fenced:
            return OutcomeCode.LEASE_LOST, HALTED[OutcomeCode.LEASE_LOST]
        halted = self._around.halted()
        if self.patience.is_exhausted and (halted is None or halted[0] is OutcomeCode.DEADLINE):
            return OutcomeCode.OVERLOADED, HALTED[OutcomeCode.OVERLOADED]
        return halted

    def why_closed(self, task: T) -> str:
        """Why its profile evicts nothing more; "" while it may. What others have begun goes on."""
        if task.is_adopted:
            return ""
        return self._settings.why_closed(task.eviction.profile, self._around.clock(), self._around.now())

    def ended(self, task: T) -> tuple[OutcomeCode, str] | None:
        """Why its pod may not be evicted any more, None while it may."""
        why = self.why_closed(task)
        return self.halted() or ((OutcomeCode.WINDOW_CLOSED, why) if why else None)

    def may_send(self, task: T) -> bool:
        """Whether the run is still on. Asked on the thread of a call, until nothing is left but to send it."""
        if self.ended(task) is not None:
            return False
        if self._around.why_not_call():
            self.is_fenced = True
        return not self.is_fenced

    @property
    def tasks(self) -> list[T]:
        """Those for which a call is under way."""
        return list(self._under_way.values())

    @property
    def num_under_way(self) -> int:
        """How many calls are under way, or have ended and were not taken."""
        return len(self._under_way)

    def submit(self, task: T, call: Callable[[], Any]) -> None:
        """Has a call for `task` made."""
        self._under_way[self._calls.submit(call)] = task

    def evict(self, task: T, call: Callable[[], Any]) -> None:
        """Has the call made that evicts the pod of `task`, and counts it."""
        if not (task.is_booked or task.is_adopted):
            self._ledger.book(task.eviction)
            task.is_booked = True
        task.num_calls += 1
        task.is_called = True
        self._around.open_calls.began(task.eviction)
        self.submit(task, call)

    def room_for(self, task: T) -> tuple[MayStart, str]:
        """Whether limits let the pod of `task` be evicted, and a sentence on the limit that forbids it.

        Those of earlier runs and of users have met limits before, and meet none here.
        """
        if task.is_adopted or task.is_booked:
            return MayStart.FREE, ""
        return self._ledger.room_for(task.eviction)

    def settle(self, task: T, *, counts: bool) -> None:
        """Limits need not wait for `task` any more; `counts` says whether it uses them up."""
        if task.is_booked and not task.is_settled:
            task.is_settled = True
            self._ledger.settle(task.eviction, counts=counts)

    def judged(self, task: T, response: EvictionResponse) -> Judgement:
        """What `response` says of the eviction of `task`."""
        task.status_code = response.status_code
        return judge(
            task.eviction,
            response,
            evictions_in_background=self._settings.evictions_in_background,
            fault_wait_seconds=self._settings.fault_wait_seconds,
        )

    def answered(self, task: T, judgement: Judgement) -> None:
        """Notes what was said to a call that evicts the pod of `task`."""
        was_open, now = task.is_open, self._around.clock()
        task.answer(judgement, now=now, effect_seconds=self._settings.effect_seconds)
        if task.is_open and not was_open and self._around.sink is not None:
            self._around.sink.doubted(task.eviction, task.why, max(0.0, task.settles_at - self._around.clock()))
        if judgement.code is OutcomeCode.OVERLOADED and self._around.sink is not None:
            self._around.sink.turned_away(judgement.retry_after_seconds or 0.0)
        self.note_open(task)
        self.patience.note(judgement)

    def not_called(self, task: T) -> None:
        """The run was halted between the decision and the call."""
        task.num_calls -= 1
        task.is_called = False
        self.note_open(task)

    def note_open(self, task: T) -> None:
        """No call for the pod is under way; those before may have left its fate open."""
        if task.is_unsettled:
            self._around.open_calls.doubted(task.eviction, task.settles_at)
        else:
            self._around.open_calls.ended(task.eviction)

    def collect(self, road: Road[T]) -> None:
        """Has `road` take over what has come."""
        road.take_over()
        for future in [future for future in self._under_way if future.done()]:
            task = self._under_way.pop(future)
            try:
                answer = future.result()
            except Exception as error:  # whatever it is, what was done so far has to be reported
                road.failed(task, error)
            else:
                road.take(task, answer)

    def drain(self, road: Road[T], patience_seconds: float) -> None:
        """Awaits the calls under way for so long at most."""
        give_up_at = self._around.clock() + patience_seconds
        while self._under_way and self._around.clock() < give_up_at:
            wait(self._under_way, timeout=SLICE_SECONDS, return_when=FIRST_COMPLETED)
            self.collect(road)

    def give_up(self) -> list[T]:
        """Those for which a call is under way, whose answers are not awaited any more."""
        left = self.tasks
        self._under_way.clear()
        return left

    def finish(self, task: T, ending: Judgement) -> OutcomeKind:
        """Ends `task`."""
        outcome = Outcome(
            task.eviction,
            ending.kind,
            ending.code,
            ending.message,
            task.status_code,
            task.num_calls,
            landed_on=task.landed_on,
        )
        if task.num_calls and not outcome.is_unconfirmed:
            self._around.open_calls.ended(task.eviction)
        self.settle(task, counts=ending.kind.uses_limits)
        self.bundles.ended(task, ending.kind, ending.code)
        self._outcomes[task.position] = outcome
        if self._around.sink is not None:
            self._around.sink.record(outcome)
        return outcome.kind

    def _pause(self, road: Road[T]) -> None:
        seconds = road.idle_seconds
        if awaited := [*self._under_way, *road.awaited]:
            wait(awaited, timeout=min(seconds, SLICE_SECONDS), return_when=FIRST_COMPLETED)
            return
        deadline = self._settings.deadline
        self._around.sleep(seconds if deadline is None else min(seconds, max(0.0, deadline - self._around.clock())))

"""Carries evictions out in plan order, at a pace, several at a time, until done, out of time or told to stop."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from typing import TYPE_CHECKING

from descheduler.kube.background import BackgroundCalls
from descheduler.kube.errors import KubeError
from descheduler.kube.evict import EvictionResponse, PodState
from descheduler.migration.dispatch.bundle_progress import BundleProgress
from descheduler.migration.dispatch.eviction_task import EvictionTask
from descheduler.migration.dispatch.halting import HALTED
from descheduler.migration.dispatch.judgement import Judgement, judge
from descheduler.migration.dispatch.limits import LimitLedger, Room
from descheduler.migration.dispatch.order import AsPlanned, Order
from descheduler.migration.dispatch.server_patience import ServerPatience
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.ports import EvictPort
from descheduler.migration.settings import ExecutorSettings
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction

if TYPE_CHECKING:  # which policies of upstream go without
    from descheduler.migration.dispatch.care import Care

__all__ = ["execute"]

_SLICE_SECONDS = 0.1
"""How long the dispatcher may be deaf to the stop flag."""

_Answer = EvictionResponse | tuple[PodState, float] | None
"""What a call brought, None when the run was halted before it was sent; or what a look found, and when it began."""


def execute(
    evictions: Iterable[PlannedEviction],
    port: EvictPort,
    settings: ExecutorSettings,
    around: Surroundings,
    care: Callable[[], Care] | None = None,
    ledger: LimitLedger | None = None,
) -> tuple[Outcome, ...]:
    """One outcome for each planned eviction, in plan order.

    First calls start in plan order, or with `care`, which is asked for where there are evictions. Nothing is sent for a
    uid that was requested before, or once the run is halted (by a signal, for example); calls in flight are then
    awaited. `around.may_call` is asked right before each call, on the thread that makes it. A call that did not clearly
    fail counts as an eviction, against limits too, until the pod was seen alive after the call could no longer take
    effect; `around.open_calls` is told of every call until then. Limits are those of `ledger`, else of the settings.
    """
    tasks = [_task(position, eviction, settings) for position, eviction in enumerate(evictions)]
    order = AsPlanned(tasks) if care is None or not tasks else care().order(tasks)
    return _Execution(order, port, settings, around, ledger or LimitLedger(settings.limits)).run()


def _task(position: int, eviction: PlannedEviction, settings: ExecutorSettings) -> EvictionTask:
    # A pod that is handed over to another controller lives on for as long as that likes.
    outlives_effect = settings.evictions_in_background and eviction.request_evict_only
    return EvictionTask(0.0, position, eviction, outlives_effect=outlives_effect)


class _Execution:
    """The dispatcher of one run. All state belongs to the calling thread; threads of the pool only make the calls."""

    def __init__(
        self, order: Order, port: EvictPort, settings: ExecutorSettings, around: Surroundings, ledger: LimitLedger
    ) -> None:
        self._port = port
        self._settings = settings
        self._around = around
        self._now = around.clock
        self._ledger = ledger
        self._bundles = BundleProgress()
        self._calls: BackgroundCalls[_Answer] = BackgroundCalls(settings.max_in_flight, name="evict")
        self._order = order
        self._waiting: list[tuple[float, int, EvictionTask]] = []
        self._in_flight: dict[Future[_Answer], EvictionTask] = {}
        self._patience = ServerPatience(settings, around)
        self._is_fenced = False
        self._requested: set[str] = set()
        self._outcomes: dict[int, Outcome] = {}

    def run(self) -> tuple[Outcome, ...]:
        try:
            while self._order or self._waiting or self._in_flight:
                if (halted := self._halted()) is not None:
                    self._wind_up(halted)
                elif (wait_seconds := self._start_next()) > 0:
                    self._pause(wait_seconds)
                self._collect()
        finally:
            self._calls.close()
        return tuple(self._outcomes[position] for position in sorted(self._outcomes))

    def _halted(self) -> OutcomeCode | None:
        if self._is_fenced:
            return OutcomeCode.LEASE_LOST
        halted = self._patience.halted()
        return None if halted is None else halted[0]

    def _start_next(self) -> float:
        """Starts one call or look and returns 0, else the seconds after which one might start."""
        task, wait_seconds = self._choose()
        if task is None:
            return wait_seconds
        if task.wants_look:
            heapq.heappop(self._waiting)
            self._look(task)
            return 0.0
        if (wait_seconds := self._around.paces.try_take(task.eviction.profile)) > 0:
            return wait_seconds
        if task.num_calls:
            heapq.heappop(self._waiting)
        else:
            self._order.remove(task)
            self._order.began(task)
            self._requested.add(task.eviction.uid)
            self._ledger.book(task.eviction)
            self._bundles.began(task.eviction)
            task.is_booked = True
        task.num_calls += 1
        self._around.open_calls.began(task.eviction)
        self._in_flight[self._calls.submit(partial(self._call, task.eviction))] = task
        return 0.0

    def _choose(self) -> tuple[EvictionTask | None, float]:
        """The task to go on with, a waiting one whose time has come first; else None and the seconds to wait."""
        if not self._patience.window.has_room(len(self._in_flight)):
            return None, _SLICE_SECONDS
        if (shut_seconds := self._patience.window.shut_seconds) > 0:
            return None, shut_seconds
        until_due = self._waiting[0][0] - self._now() if self._waiting else _SLICE_SECONDS
        if self._waiting and until_due <= 0:
            return self._waiting[0][2], 0.0
        while (task := self._order.next()) is not None:
            reason = self._never_begun(task)
            room, limit = self._ledger.room_for(task.eviction) if reason is None else (Room.FULL, "")
            if room is Room.AWAITED or (room is Room.FREE and self._bundles.awaits(task.eviction)):
                break
            if room is Room.FREE and not self._order.is_ready(task):
                break
            if room is Room.FREE:
                return task, 0.0
            self._order.remove(task)
            self._leave_out(task, *(reason or (OutcomeCode.LIMIT, limit)))
        return None, until_due if self._waiting or self._in_flight or self._order else 0.0

    def _never_begun(self, task: EvictionTask) -> tuple[OutcomeCode, str] | None:
        if (reason := self._never_sent(task.eviction)) is not None:
            return reason
        why = self._order.why_stays(task)
        return (OutcomeCode.REPLACEMENT_PENDING, why) if why else None

    def _never_sent(self, eviction: PlannedEviction) -> tuple[OutcomeCode, str] | None:
        if eviction.dry:
            return OutcomeCode.DRY_RUN, f"profile {eviction.profile} is a dry run (MigrationController dryRun: true)"
        if eviction.uid in self._requested:
            return OutcomeCode.REPEATED, "requested before in this run"
        if why := self._settings.why_closed(eviction.profile, self._now()):
            return OutcomeCode.WINDOW_CLOSED, why
        if not eviction.uid:
            return OutcomeCode.NO_UID, "the pod has no UID; a later pod of the same name could be evicted instead"
        return self._bundles.never_sent(eviction)

    def _ended(self, eviction: PlannedEviction) -> tuple[OutcomeCode, str] | None:
        """Why no call may be made for it any more, None while one may."""
        if (halted := self._halted()) is not None:
            return halted, HALTED[halted]
        why = self._settings.why_closed(eviction.profile, self._now())
        return (OutcomeCode.WINDOW_CLOSED, why) if why else None

    def _call(self, eviction: PlannedEviction) -> _Answer:
        """Runs on a thread of the pool; nothing is sent when the run was halted since the decision."""
        may_send = partial(self._may_send, eviction)
        if not may_send():
            return None
        return self._port.evict(
            eviction.namespace,
            eviction.name,
            uid=eviction.uid,
            grace_period_seconds=eviction.grace_period_seconds,
            annotations_reason=eviction.annotation,
            may_send=may_send,
        )

    def _may_send(self, eviction: PlannedEviction) -> bool:
        """Whether the run is still on; asked before each call, and again when all is ready to send it."""
        if self._ended(eviction) is not None:
            return False
        if self._around.may_call():
            self._is_fenced = True
            return False
        return True

    def _look(self, task: EvictionTask) -> None:
        self._in_flight[self._calls.submit(partial(self._see, task.eviction))] = task

    def _see(self, eviction: PlannedEviction) -> _Answer:
        """Runs on a thread of the pool."""
        looked_at = self._now()
        return self._port.look(eviction.namespace, eviction.name, uid=eviction.uid), looked_at

    def _pause(self, seconds: float) -> None:
        if awaited := [*self._in_flight, *self._order.awaited]:
            wait(awaited, timeout=min(seconds, _SLICE_SECONDS), return_when=FIRST_COMPLETED)
            return
        deadline = self._settings.deadline
        self._around.sleep(seconds if deadline is None else min(seconds, max(0.0, deadline - self._now())))

    def _collect(self) -> None:
        for task, ending in self._order.take_over():
            self._finish(task, ending)
        for future in [future for future in self._in_flight if future.done()]:
            task = self._in_flight.pop(future)
            try:
                answer = future.result()
            except Exception as error:  # whatever it is, what was done so far has to be reported
                self._failed(task, error)
                continue
            if answer is None:
                self._not_called(task)
                continue
            if isinstance(answer, EvictionResponse):
                task.status_code = answer.status_code
                self._answered(task, self._judge(task, answer))
            else:
                state, looked_at = answer
                self._seen(task, state, looked_at=looked_at)

    def _failed(self, task: EvictionTask, error: Exception) -> None:
        """A call or a look ended without any answer of the port: with nothing sent, or in a defect of this program."""
        if isinstance(error, KubeError):
            judgement = Judgement(OutcomeKind.FAILED, OutcomeCode.NO_CONNECTION, str(error))
            self._answered(task, judgement)
        elif task.is_looked_at:
            self._seen(task, PodState.UNKNOWN, looked_at=self._now())
        else:
            # The error's text is not repeated: it may quote a header field with a credential.
            text = f"internal error ({type(error).__name__})"
            judgement = Judgement(OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, text, is_open=True)
            self._answered(task, judgement)

    def _not_called(self, task: EvictionTask) -> None:
        """The run was halted between the decision and the call."""
        task.num_calls -= 1
        self._note_open(task)
        if task.judgement is None:
            self._leave_out(task, *(self._ended(task.eviction) or (OutcomeCode.STOPPED, HALTED[OutcomeCode.STOPPED])))
        else:
            self._wind_up_task(task)

    def _judge(self, task: EvictionTask, response: EvictionResponse) -> Judgement:
        return judge(
            task.eviction,
            response,
            evictions_in_background=self._settings.evictions_in_background,
            fault_wait_seconds=self._settings.fault_wait_seconds,
        )

    def _answered(self, task: EvictionTask, judgement: Judgement) -> None:
        was_in_doubt = task.is_in_doubt
        task.answer(judgement, now=self._now(), effect_seconds=self._settings.effect_seconds)
        if task.is_in_doubt and not was_in_doubt and self._around.sink is not None:
            self._around.sink.doubted(task.eviction, task.why, max(0.0, task.settles_at - self._now()))
        self._note_open(task)
        self._patience.note(judgement)
        self._go_on(task)

    def _note_open(self, task: EvictionTask) -> None:
        """No call for the pod is under way; those before may have left its fate open."""
        if task.is_in_doubt:
            self._around.open_calls.doubted(task.eviction, task.settles_at)
        else:
            self._around.open_calls.ended(task.eviction)

    def _seen(self, task: EvictionTask, state: PodState, *, looked_at: float) -> None:
        if state.is_leaving:
            self._finish(task, task.departure)
        else:
            task.see(state, looked_at=looked_at)
            self._go_on(task)

    def _go_on(self, task: EvictionTask) -> None:
        """Ends the task, or has it wait for its next call or look."""
        now, again_at = self._now(), self._patience.again_at(task)
        if task.is_decided:
            self._finish(task, task.ending)
        elif self._ended(task.eviction) is not None:
            self._wind_up_task(task)
        elif task.num_blind_looks:
            self._look_later(task)
        elif task.is_unseen:
            self._schedule(task, now, wants_look=True)
        elif again_at is not None:
            self._schedule(task, again_at, wants_look=False)
        elif task.needs_look:
            self._schedule(task, max(now, task.settles_at), wants_look=True)
        else:
            self._finish(task, task.ending)

    def _look_later(self, task: EvictionTask) -> None:
        """After a look that said nothing: another one, ever later, until the pod's fate is given up as unknown."""
        if task.is_given_up(self._now()):
            self._finish(task, task.ending)
        else:
            wait_seconds = task.blind_wait_seconds(self._settings.fault_wait_seconds)
            self._schedule(task, self._now() + wait_seconds, wants_look=True)

    def _schedule(self, task: EvictionTask, at: float, *, wants_look: bool) -> None:
        task.ready_at = at
        task.wants_look = wants_look
        heapq.heappush(self._waiting, (at, task.position, task))

    def _wind_up(self, halted: OutcomeCode) -> None:
        """Calls nothing more; waits for what is in flight, and gives up what has no answer when patience ends."""
        for task in self._order.clear():
            self._abandon(task, halted)
        waiting, self._waiting = sorted(self._waiting, key=lambda entry: entry[1]), []
        for _, _, task in waiting:
            self._wind_up_task(task)
        give_up_at = self._now() + self._settings.drain_seconds
        while self._in_flight and self._now() < give_up_at:
            wait(self._in_flight, timeout=_SLICE_SECONDS, return_when=FIRST_COMPLETED)
            self._collect()
        self._collect()
        for task in self._in_flight.values():
            late = f"no answer within {self._settings.drain_seconds:g} s after the run was stopped"
            self._finish(task, task.ending if task.is_looked_at else task.unknown(late))
        self._in_flight.clear()

    def _wind_up_task(self, task: EvictionTask) -> None:
        """Ends a task that is not called again, with a last look at the pod where its fate is open."""
        if task.needs_look and not task.had_last_look:
            task.had_last_look = True
            self._look(task)
        else:
            self._finish(task, task.ending)

    def _abandon(self, task: EvictionTask, halted: OutcomeCode) -> None:
        """Ends a task that was never called."""
        self._leave_out(task, *(self._never_sent(task.eviction) or (halted, HALTED[halted])))

    def _leave_out(self, task: EvictionTask, code: OutcomeCode, why: str) -> None:
        self._finish(task, Judgement(OutcomeKind.NOT_ATTEMPTED, code, why))

    def _finish(self, task: EvictionTask, ending: Judgement) -> None:
        outcome = Outcome(task.eviction, ending.kind, ending.code, ending.message, task.status_code, task.num_calls)
        if task.is_booked:
            if not outcome.is_unconfirmed:
                self._around.open_calls.ended(task.eviction)
            self._ledger.settle(task.eviction, counts=ending.kind.uses_limits)
            self._order.ended(task, ending.kind)
        self._bundles.ended(outcome)
        self._outcomes[task.position] = outcome
        if self._around.sink is not None:
            self._around.sink.record(outcome)

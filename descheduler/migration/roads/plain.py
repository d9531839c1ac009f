"""Plain evictions: each of them is one call in plan order, made again as the API server says."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any

from descheduler.kube.background import BackgroundCalls
from descheduler.kube.evict import EvictionResponse, PodState
from descheduler.migration.dispatch.bundles import Bundles
from descheduler.migration.dispatch.dispatcher import SLICE_SECONDS, Dispatcher
from descheduler.migration.dispatch.judgement import Judgement
from descheduler.migration.dispatch.limits import LimitLedger, MayStart
from descheduler.migration.dispatch.surroundings import HALTED, Surroundings
from descheduler.migration.dispatch.task import EvictionTask
from descheduler.migration.ports import EvictPort
from descheduler.migration.roads.order import AsPlanned, Order
from descheduler.migration.settings import DispatchSettings
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction
from descheduler.transport.errors import ExchangeError

if TYPE_CHECKING:  # which policies of upstream go without
    from descheduler.migration.roads.care import Care

_Answer = EvictionResponse | tuple[PodState, float] | None
"""What a call brought, None when the run was halted before it was sent; or what a look found, and when it began."""


def execute(
    evictions: Iterable[PlannedEviction],
    port: EvictPort,
    settings: DispatchSettings,
    around: Surroundings,
    care: Callable[[], Care] | None = None,
    ledger: LimitLedger | None = None,
) -> tuple[Outcome, ...]:
    """One outcome for each planned eviction, in plan order.

    First calls start in plan order, or with `care`, which is asked for where there are evictions. Nothing is sent for a
    uid that was requested before, or once the run is halted (by a signal, for example); calls in flight are then
    awaited. `around.why_not_call` is asked right before each call, on the thread that makes it. A call that did not
    clearly fail counts as an eviction, against limits too, until the pod was seen alive after the call could no
    longer take effect; `around.open_calls` is told of every call until then. Limits are those of `ledger`, else of the
    settings.
    """
    tasks = [_task(position, eviction, settings) for position, eviction in enumerate(evictions)]
    bundles = Bundles(tasks)
    order = AsPlanned(tasks) if care is None or not tasks else care().order(tasks)
    del tasks
    calls: BackgroundCalls[_Answer] = BackgroundCalls(settings.max_in_flight, name="evict")
    try:
        dispatcher = Dispatcher[EvictionTask](settings, around, ledger, calls)
        return dispatcher.run(_PlainRoad(order, port, settings, around, dispatcher), bundles)
    finally:
        calls.close()


def _task(position: int, eviction: PlannedEviction, settings: DispatchSettings) -> EvictionTask:
    # A pod that is handed over to another controller lives on for as long as that likes.
    outlives_effect = settings.evictions_in_background and eviction.request_evict_only
    return EvictionTask(eviction, position, outlives_effect=outlives_effect)


class _PlainRoad:
    """The steps of plain evictions; see `dispatch.dispatcher.Road`."""

    def __init__(
        self,
        order: Order,
        port: EvictPort,
        settings: DispatchSettings,
        around: Surroundings,
        dispatcher: Dispatcher[EvictionTask],
    ) -> None:
        self._order = order
        self._port = port
        self._settings = settings
        self._around = around
        self._now = around.clock
        self._dispatcher = dispatcher
        self._next: EvictionTask | None = None
        self.idle_seconds = SLICE_SECONDS
        self._waiting: list[tuple[float, int, EvictionTask]] = []
        """A heap of those that are called or looked at again."""
        self._requested: set[str] = set()

    @property
    def is_going(self) -> bool:
        """Whether any is to be called or looked at."""
        return bool(self._order or self._waiting)

    @property
    def awaited(self) -> Sequence[Future[Any]]:
        """What the order depends on."""
        return self._order.awaited

    def begin(self) -> bool:
        """Chooses what is done next: for one that waits and whose time has come, else for the first of the others."""
        self._next, self.idle_seconds = self._choose()
        return False

    def _choose(self) -> tuple[EvictionTask | None, float]:
        """The task to go on with, else None and the seconds to wait."""
        window = self._dispatcher.patience.window
        if not window.has_room(self._dispatcher.num_under_way):
            return None, SLICE_SECONDS
        if (shut_seconds := window.shut_seconds) > 0:
            return None, shut_seconds
        until_due = self._until_due
        if self._waiting and until_due <= 0:
            return self._waiting[0][2], 0.0
        while (task := self._order.next()) is not None:
            reason = self._never_begun(task)
            room, limit = self._dispatcher.room_for(task) if reason is None else (MayStart.FULL, "")
            if room is MayStart.AWAITED or (room is MayStart.FREE and self._dispatcher.bundles.awaits(task)):
                break
            if room is MayStart.FREE:
                return task, until_due
            self._order.remove(task)
            self._leave_out(task, *(reason or (OutcomeCode.LIMIT, limit)))
        return None, until_due

    @property
    def _until_due(self) -> float:
        return self._waiting[0][0] - self._now() if self._waiting else SLICE_SECONDS

    def _never_begun(self, task: EvictionTask) -> tuple[OutcomeCode, str] | None:
        if (reason := self._never_sent(task)) is not None:
            return reason
        why = self._order.why_stays(task)
        return (OutcomeCode.REPLACEMENT_PENDING, why) if why else None

    def _never_sent(self, task: EvictionTask) -> tuple[OutcomeCode, str] | None:
        eviction = task.eviction
        if eviction.dry:
            return OutcomeCode.DRY_RUN, f"profile {eviction.profile} is a dry run (MigrationController dryRun: true)"
        if eviction.uid in self._requested:
            return OutcomeCode.REPEATED, "requested before in this run"
        if why := self._dispatcher.why_closed(task):
            return OutcomeCode.WINDOW_CLOSED, why
        if not eviction.uid:
            return OutcomeCode.NO_UID, "the pod has no UID; a later pod of the same name could be evicted instead"
        why = self._dispatcher.bundles.why_broken(eviction)
        return (OutcomeCode.BUNDLE, why) if why else None

    def advance(self) -> bool:
        """Has the chosen pod looked at, where that is due."""
        task = self._next
        if task is None or not task.wants_look:
            return False
        self._next = None
        heapq.heappop(self._waiting)
        self._look(task)
        return True

    def recheck(self) -> bool:
        """Sees to it that what is called first was rechecked lately."""
        if self._next is not None and not self._next.num_calls and not self._order.is_ready(self._next):
            self._next = None
        return False

    def call(self) -> bool:
        """Has the chosen pod evicted."""
        task = self._next
        if task is None:
            return False
        if (wait_seconds := self._around.paces.try_take(task.eviction.profile)) > 0:
            self.idle_seconds = wait_seconds
            return False
        if task.num_calls:
            heapq.heappop(self._waiting)
        else:
            self._order.remove(task)
            self._order.began(task)
            self._requested.add(task.eviction.uid)
            self._dispatcher.bundles.goes_ahead(task)
        self._dispatcher.evict(task, partial(self._call, task))
        return True

    def _call(self, task: EvictionTask) -> _Answer:
        """Runs on a thread of the pool; nothing is sent when the run was halted since the decision."""
        eviction, may_send = task.eviction, partial(self._dispatcher.may_send, task)
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

    def _look(self, task: EvictionTask) -> None:
        self._dispatcher.submit(task, partial(self._see, task.eviction))

    def _see(self, eviction: PlannedEviction) -> _Answer:
        """Runs on a thread of the pool."""
        looked_at = self._now()
        return self._port.look(eviction.namespace, eviction.name, uid=eviction.uid), looked_at

    def take_over(self) -> None:
        """Ends those whose moves do not hold any more."""
        for task, ending in self._order.take_over():
            self._finish(task, ending)

    def take(self, task: EvictionTask, answer: _Answer) -> None:
        """What a call or a look brought."""
        match answer:
            case None:
                self._not_called(task)
            case EvictionResponse():
                self._answered(task, self._dispatcher.judged(task, answer))
            case state, looked_at:
                self._seen(task, state, looked_at=looked_at)

    def failed(self, task: EvictionTask, error: Exception) -> None:
        """A call or a look ended without any answer of the port: with nothing sent, or in a defect of this program."""
        if isinstance(error, ExchangeError):
            self._answered(task, Judgement(OutcomeKind.FAILED, OutcomeCode.NO_CONNECTION, str(error)))
        elif task.is_looked_at:
            self._seen(task, PodState.UNKNOWN, looked_at=self._now())
        else:
            # The error's text is not repeated: it may quote a header field with a credential.
            text = f"internal error ({type(error).__name__})"
            self._answered(task, Judgement(OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, text, is_open=True))

    def _not_called(self, task: EvictionTask) -> None:
        """The run was halted between the decision and the call."""
        self._dispatcher.not_called(task)
        if task.judgement is None:
            self._leave_out(task, *(self._dispatcher.ended(task) or (OutcomeCode.STOPPED, HALTED[OutcomeCode.STOPPED])))
        else:
            self._wind_up_task(task)

    def _answered(self, task: EvictionTask, judgement: Judgement) -> None:
        self._dispatcher.answered(task, judgement)
        self._go_on(task)

    def _seen(self, task: EvictionTask, state: PodState, *, looked_at: float) -> None:
        if state.is_leaving:
            self._finish(task, task.departure)
        else:
            task.see(state, looked_at=looked_at)
            self._go_on(task)

    def _go_on(self, task: EvictionTask) -> None:
        """Ends the task, or has it wait for its next call or look."""
        now, again_at = self._now(), self._dispatcher.patience.again_at(task)
        if task.is_decided:
            self._finish(task, task.ending)
        elif self._dispatcher.ended(task) is not None:
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
        task.due = at
        task.wants_look = wants_look
        heapq.heappush(self._waiting, (at, task.position, task))

    def wind_up(self, code: OutcomeCode, why: str) -> None:
        """Calls nothing more; waits for what is in flight, and gives up what has no answer when patience ends."""
        for task in self._order.clear():
            self._leave_out(task, *(self._never_sent(task) or (code, why)))
        waiting, self._waiting = sorted(self._waiting, key=lambda entry: entry[1]), []
        for _, _, task in waiting:
            self._wind_up_task(task)
        self._dispatcher.drain(self, self._settings.drain_seconds)
        self._dispatcher.collect(self)
        late = f"no answer within {self._settings.drain_seconds:g} s after the run was stopped"
        for task in self._dispatcher.give_up():
            self._finish(task, task.ending if task.is_looked_at else task.unknown(late))

    def _wind_up_task(self, task: EvictionTask) -> None:
        """Ends a task that is not called again, with a last look at the pod where its fate is open."""
        if task.needs_look and not task.had_last_look:
            task.had_last_look = True
            self._look(task)
        else:
            self._finish(task, task.ending)

    def _leave_out(self, task: EvictionTask, code: OutcomeCode, why: str) -> None:
        self._finish(task, Judgement(OutcomeKind.NOT_ATTEMPTED, code, why))

    def _finish(self, task: EvictionTask, ending: Judgement) -> None:
        kind = self._dispatcher.finish(task, ending)
        if task.is_booked:
            self._order.ended(task, kind)

"""Evictions as jobs: those of a run are taken through their steps, and evict at the pace of the policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

from msgspec.structs import replace

from descheduler.kube.evict import EvictionClient, EvictionResponse
from descheduler.migration.dispatch.bundles import Bundles
from descheduler.migration.dispatch.dispatcher import SLICE_SECONDS, Dispatcher
from descheduler.migration.dispatch.judgement import Judgement, shown
from descheduler.migration.dispatch.limits import LimitLedger, MayStart
from descheduler.migration.dispatch.rechecks import Recheck, Rechecks
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.dispatch.waves import Waves
from descheduler.migration.job.conditions import aborted, failed
from descheduler.migration.job.steps import End, Evict
from descheduler.migration.listeners import EveryListener
from descheduler.migration.replacements import is_replaced
from descheduler.migration.roads.calls import SOFT_EVICTION, JobCalls
from descheduler.migration.roads.chains import bundle_is_ready, hold_ahead, with_time_for_waves
from descheduler.migration.roads.departures import Unscheduled
from descheduler.migration.roads.job_task import JobTask, Turn, Turns
from descheduler.migration.roads.keeper import JobKeeper, Progress
from descheduler.migration.roads.open_creations import OpenCreations
from descheduler.migration.roads.outcomes import deleted, ended, left_out, not_landed, strange, unfinished, why_left
from descheduler.migration.settings import JobSettings
from descheduler.migration.store.journal import Journal, NewJob
from descheduler.model.koordinator.migration_job import JobPhase, JobReason, MigrationJob
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction
from descheduler.transport.errors import ExchangeError

_LONGEST_PAUSE_SECONDS = 1.0
"""How long the run may sleep on where nothing is due."""

_End = Callable[[MigrationJob], MigrationJob]
"""Makes of a job what it is at its end."""


class JobRoad:
    """The steps of jobs; see `dispatch.dispatcher.Road`. `around.calls` makes the calls. Without `recheck` all hold."""

    def __init__(
        self,
        journal: Journal,
        keeper: JobKeeper,
        port: EvictionClient,
        settings: JobSettings,
        new_job: Callable[[PlannedEviction], NewJob],
        around: Surroundings,
        recheck: Recheck[Turn] | None = None,
        ledger: LimitLedger | None = None,
    ) -> None:
        self._journal = journal
        self._keeper = keeper
        self._calls = JobCalls(journal, keeper, port, around)
        self._settings = settings
        self._new_job = new_job
        self._around = around
        self._queue = Waves[JobTask]()
        self._active: list[JobTask] = []
        self._turns = Turns()
        self._rechecks = None if recheck is None else Rechecks(recheck, around)
        self._listener = around.listener or EveryListener()
        self._unscheduled = Unscheduled()
        self._open_creations = OpenCreations(journal, keeper, settings.eviction, around)
        self._dispatcher = Dispatcher[JobTask](settings.eviction, around, ledger)

    def run(self, tasks: Iterable[JobTask]) -> tuple[Outcome, ...]:
        """One outcome for each of `tasks`, in their order, once none of their jobs can go on.

        Jobs that are adopted go on at once. Another one is created when no other of its workload is under way, and
        while no more are than the settings allow.
        """
        all_tasks = list(tasks)
        new = [task for task in all_tasks if task.job is None]
        hold_ahead(new)
        self._queue = Waves(new)
        for position, task in enumerate(all_tasks):
            task.position = position
            if task.job is not None:
                self._activate(task)
        outcomes = self._dispatcher.run(self, Bundles(new))
        self._open_creations.settle()
        return outcomes

    @property
    def is_going(self) -> bool:
        """Whether any job has not ended, or not begun."""
        return bool(self._queue or self._active)

    @property
    def awaited(self) -> Sequence[Future[Any]]:
        """The recheck that is awaited, if any."""
        return () if self._rechecks is None else self._rechecks.awaited

    @property
    def idle_seconds(self) -> float:
        """Until the next look at a job."""
        dues = [task.due for task in self._active]
        until_due = 0.0 if self._turns else min(dues, default=0.0) - self._around.clock()
        return min(max(SLICE_SECONDS, until_due), _LONGEST_PAUSE_SECONDS)

    def begin(self) -> bool:
        """Leaves out what may not go on, and has the next job created."""
        has_closed = self._settings.eviction.has_closed(self._around.clock(), self._around.now())
        for task in [*self._queue, *self._active] if has_closed or self._dispatcher.bundles.has_left_overs else ():
            self._leave_out_if_closed(task)
        return self._begin_next()

    def _leave_out_if_closed(self, task: JobTask) -> None:
        """Leaves it out once its profile is closed, or another of its bundle stays. What may have left goes on."""
        why, why_broken = self._dispatcher.why_closed(task), self._dispatcher.bundles.why_broken(task.eviction)
        if task.may_have_left:
            if why and self._turns.drop(task):
                task.wait(self._around.clock())
        elif why:
            refused = task.judgement if task.num_calls else None
            self._leave_out(task, refused or left_out(OutcomeCode.WINDOW_CLOSED, why), partial(aborted, message=why))
        elif why_broken:
            self._leave_out(task, left_out(OutcomeCode.BUNDLE, why_broken))

    def _begin_next(self) -> bool:
        """Has the next job created whose workload is free; whether there was one."""
        # What waits for its wave must not keep those away that it waits for.
        num_going = sum(self._queue.has_come(task.eviction) for task in self._active)
        task = self._queue.next(is_full=num_going >= self._settings.most_active)
        if task is None:
            return False
        if why := self._unscheduled.why_stays(task.eviction):
            self._leave_out(task, left_out(OutcomeCode.REPLACEMENT_PENDING, why))
            return True
        self._queue.remove(task)
        self._activate(task)
        new_job, task.job_name = with_time_for_waves(self._new_job(task.eviction), task), self._journal.new_name()
        self._dispatcher.submit(task, partial(self._calls.create, new_job, task.job_name))
        return True

    def _activate(self, task: JobTask) -> None:
        self._active.append(task)
        self._queue.began(task)

    def advance(self) -> bool:
        """Has every job looked at whose time has come."""
        now, busy = self._around.clock(), {*self._dispatcher.tasks, *self._turns.tasks}
        due = [(task, task.job) for task in self._active if task.job and task not in busy and task.due <= now]
        for task, job in due:
            task.looked_at = now
            if task.end is not None:
                look = partial(self._calls.undo, job, task.end)
            elif task.ends_at is not None:
                look = partial(self._calls.landed, job, task.eviction)
            else:
                holds_only = not self._queue.has_come(task.eviction)
                look = partial(self._keeper.advance, job, holds_only=holds_only, takes_turns=task.takes_turns)
            self._dispatcher.submit(task, look)
        return bool(due)

    def recheck(self) -> bool:
        """Has the moves rechecked whose turn it is."""
        if self._rechecks is None or self._rechecks.is_busy:
            return False
        wave = [turn for turn in self._turns if not self._rechecks.is_good(turn) and self._may_go(turn.task)]
        if wave:
            self._rechecks.begin(wave, {task.eviction.uid for task in self._active if task.num_calls})
        return bool(wave)

    def _may_go(self, task: JobTask) -> bool:
        if task in self._dispatcher.tasks:  # it is looked at, as a job is whose turn comes late
            return False
        is_complete = bundle_is_ready(task, self._dispatcher.bundles, self._turns.tasks, self._around.clock())
        return is_complete and self._queue.has_come(task.eviction)

    def call(self) -> bool:
        """Has the first of the pods evicted whose turn it is, when the pace allows.

        Else jobs are read whose turn takes long to come: another client may delete them.
        """
        if self._call():
            return True
        late = self._turns.late(self._around.clock(), self._dispatcher.tasks)
        for task, job, known in late:
            self._dispatcher.submit(task, partial(self._keeper.read_again, job, known))
        return bool(late)

    def _call(self) -> bool:
        window = self._around.paces.patience.window
        if window.shut_seconds > 0 or not window.has_room(sum(task.is_called for task in self._active)):
            return False
        good = (turn for turn in self._turns if self._rechecks is None or self._rechecks.is_good(turn))
        turn = next((turn for turn in good if self._may_be_called(turn.task)), None)
        if turn is None:
            return False
        task, (room, limit) = turn.task, self._dispatcher.room_for(turn.task)
        if room is MayStart.FULL:
            self._leave_out(task, left_out(OutcomeCode.LIMIT, limit), partial(aborted, message=limit))
            return True
        if self._around.paces.try_take(task.eviction.profile) > 0:
            return False
        self._turns.drop(task)
        self._dispatcher.bundles.leaves(task.eviction)
        if not task.is_in_doubt:
            task.asked_at = self._around.now()
        task.pod, task.asks_others = turn.pod, turn.policy == SOFT_EVICTION
        eviction = replace(task.eviction, uid=turn.pod.uid)  # which a user's job need not state
        may_send = partial(self._dispatcher.may_send, task)
        self._dispatcher.evict(task, partial(self._calls.evict, task.job, eviction, turn.policy, may_send))
        return True

    def _may_be_called(self, task: JobTask) -> bool:
        """Whether it may go, and no call in flight tells whether limits have room for it."""
        return self._may_go(task) and self._dispatcher.room_for(task)[0] is not MayStart.AWAITED

    def _leave_out(self, task: JobTask, judgement: Judgement, end: _End | None = None) -> None:
        """Evicts nothing for `task`, whose job is undone as soon as no call for it is under way, and ends as `end`."""
        if task in self._queue:
            self._queue.remove(task)
            self._finish(task, left_out(judgement.code, judgement.message))
        elif task.job is not None and task.end is None and task not in self._dispatcher.tasks:
            self._turns.drop(task)
            task.judgement = judgement
            self._give_up(task, judgement, end)

    def take_over(self) -> None:
        """Leaves out what does not hold any more; after an error all that was rechecked is looked at again."""
        taken = None if self._rechecks is None else self._rechecks.take_over()
        if taken is None:
            return
        over = taken.objections if taken.error is None else [(turn, "") for turn in taken.asked]
        for turn in taken.asked if taken.error is None else ():
            turn.task.num_errors = 0
        for turn, why in over:
            if turn not in self._turns:  # it is left out by now, or gone
                continue
            self._turns.drop(turn.task)
            if taken.error is not None:
                self.failed(turn.task, taken.error)
            else:
                self._leave_out(turn.task, Judgement(OutcomeKind.REFUSED, OutcomeCode.CHANGED, why))

    def take(self, task: JobTask, answer: Progress | EvictionResponse | MigrationJob | None) -> None:
        """What a call has brought; None where it was withheld."""
        match answer:
            case Progress():
                self._progressed(task, answer)
            case MigrationJob():
                self._listener.changed(None, answer)
                task.take(answer)
            case EvictionResponse():
                self._answered(task, answer)
            case None:
                self._dispatcher.not_called(task)

    def _progressed(self, task: JobTask, progress: Progress) -> None:
        if self._rechecks is None or not isinstance(progress.step, Evict):  # whose rechecks may go on failing
            task.num_errors = 0
        now, stopped_by = self._around.clock(), self._dispatcher.stopped_by
        if progress.job is None:
            task.is_deleted = True
            self._finish(task, deleted(task, self._journal.kind))
            return
        task.take(progress.job)
        task.see(progress.pod)
        task.end = None
        task.note_room(now)
        if isinstance(progress.step, End) and progress.job.phase == JobPhase.ABORTED and stopped_by is not None:
            self._finish(task, unfinished(task, *stopped_by))
        elif isinstance(progress.step, End):
            self._await_landing(task, progress)
        elif not isinstance(progress.step, Evict) or progress.pod is None:
            self._turns.drop(task)
            task.wait(now)
            if why := why_left(task, self._settings.adopted_seconds, now):
                self._finish(task, unfinished(task, OutcomeCode.JOB_WAITS, why))
        elif (why := strange(task, progress.pod)) and not task.is_adopted and not task.may_have_left:
            self._leave_out(task, left_out(OutcomeCode.JOB_WAITS, why), partial(aborted, message=why))
        elif why:
            self._finish(task, unfinished(task, OutcomeCode.JOB_WAITS, why))
        elif stopped_by is not None:
            if not task.may_have_left:  # else the last look was this one
                self._wind_up_task(task, stopped_by[1])
        elif task.judgement is not None and task.is_refused_for_good(self._settings.eviction.max_fault_retries):
            self._give_up(task, task.judgement)
        else:
            task.wait_for_turn(now)
            if now >= task.asks_at:
                self._turns.take(task, progress.pod, progress.step.policy)

    def _await_landing(self, task: JobTask, progress: Progress) -> None:
        """Ends the task of a job that has ended, once its replacement is ready or has had its time to get so."""
        now, replacement = self._around.clock(), progress.replacement
        task.miss = progress.miss
        if replacement is not None and replacement.is_ready:
            task.landed_on = replacement.node_name
        ending = ended(task)
        is_left = ending.code is OutcomeCode.DONE and not task.landed_on and is_replaced(task.eviction)
        if not is_left or task.is_adopted:
            self._finish(task, ending)
            return
        task.ends_at = task.ends_at or now + self._settings.landing_seconds
        if now < task.ends_at:
            task.wait(now)
        else:
            if replacement is None or not replacement.node_name:
                self._unscheduled.note(task.eviction)
            self._finish(task, not_landed(task))

    def _answered(self, task: JobTask, response: EvictionResponse) -> None:
        judgement, now = self._dispatcher.judged(task, response), self._around.clock()
        self._dispatcher.answered(task, judgement)
        task.num_faults += judgement.code is OutcomeCode.NO_CONNECTION
        if task.job is None or task.pod is None:
            raise ValueError(f"pod {task.eviction.name} was evicted without a job")
        if judgement.kind.uses_limits:
            self._dispatcher.settle(task, counts=True)
            self._dispatcher.submit(task, partial(self._calls.note_eviction, task.job, task.pod, task.asked_at))
            return
        self._listener.refused(task.job, judgement.message)
        if judgement.code is OutcomeCode.BUDGET and task.refused_since is None:
            task.refused_since = now
        if judgement.wants_look:
            task.due = now
        elif judgement.kind is OutcomeKind.REFUSED and not task.is_asked_again(now, self._settings):
            self._give_up(task, judgement)
        else:
            wait_seconds = judgement.retry_after_seconds or self._settings.budget_wait_seconds
            longest_seconds = self._settings.eviction.longest_wait_seconds
            task.wait_for_turn(now, asks_at=now + min(wait_seconds, longest_seconds))

    def _give_up(self, task: JobTask, judgement: Judgement, end: _End | None = None) -> None:
        """Gives back what is held for a pod that cannot be evicted; what is in doubt is looked at once more before."""
        if task.is_in_doubt:
            task.wait_for_turn(self._around.clock(), asks_at=task.settles_at)
        elif task.job is not None:
            task.end = end or partial(failed, reason=JobReason.FORBIDDEN, message=judgement.message)
            self._dispatcher.submit(task, partial(self._calls.undo, task.job, task.end))

    def failed(self, task: JobTask, error: Exception) -> None:
        """A call ended without an answer. The next look tells what became of it, while there is hope of one."""
        now, text = self._around.clock(), shown(error)
        task.num_errors += 1
        self._open_creations.failed(task, error)
        if task.is_called:
            task.is_called = False
            if not isinstance(error, ExchangeError):  # in a defect of this program; else nothing was sent
                task.leave_open(now + self._settings.eviction.effect_seconds)
            self._dispatcher.note_open(task)
        if task.job is None:
            self._finish(task, Judgement(OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, text))
        elif task.num_errors == self._settings.most_errors and not (task.is_adopted or task.may_have_left):
            left = task.judgement or Judgement(OutcomeKind.NOT_ATTEMPTED, OutcomeCode.SERVER_ERROR, text)
            self._leave_out(task, left, partial(aborted, message=text))
        elif task.num_errors >= self._settings.most_errors:
            self._finish(task, unfinished(task, OutcomeCode.SERVER_ERROR, text))
        else:
            task.wait(now)

    def wind_up(self, code: OutcomeCode, why: str) -> None:
        """Evicts nothing more; gives back what is held for pods that stay, and leaves the others to the next run."""
        for task in self._queue:
            self._queue.remove(task)
            self._finish(task, left_out(code, why))
        self._turns.clear()
        self._dispatcher.drain(self, self._settings.eviction.drain_seconds)
        for task in [task for task in self._dispatcher.tasks if task.may_create]:
            self._open_creations.doubted(task)  # whoever does not answer may yet do what was asked for
        for task in list(self._active):
            self._wind_up_task(task, why)
        self._dispatcher.drain(self, self._settings.eviction.drain_seconds * self._settings.undo_share)
        for task in list(self._active):
            self._finish(task, unfinished(task, code, why))

    def _wind_up_task(self, task: JobTask, why: str) -> None:
        """Undoes its job where the pod stays, and has a last look at it where the pod has left or may have."""
        is_looked_at = task in self._dispatcher.tasks
        if task.job is None or task.job.has_ended or self._around.why_not_call():
            return
        if not (task.may_have_left or (is_looked_at and task.end is not None)):
            task.end = partial(aborted, message=why)
            self._dispatcher.submit(task, partial(self._calls.undo, task.job, task.end))
        elif not is_looked_at:
            task.looked_at = self._around.clock()
            self._dispatcher.submit(task, partial(self._keeper.advance, task.job))

    def _finish(self, task: JobTask, ending: Judgement) -> None:
        self._turns.drop(task)
        self._dispatcher.finish(task, ending)
        self._open_creations.finished(task)
        if task in self._active:
            self._active.remove(task)
            self._queue.ended(task)

"""Takes the jobs of a run through their steps, several at once, and evicts at the pace of the policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from msgspec.structs import replace

from descheduler.kube.errors import KubeError
from descheduler.kube.evict import EvictionResponse
from descheduler.migration.controller.bundles import Bundles
from descheduler.migration.controller.chains import hold_ahead, with_time_for_waves
from descheduler.migration.controller.endings import (
    deleted,
    ended,
    left_out,
    not_landed,
    outcome_of,
    strange,
    unfinished,
    why_left,
)
from descheduler.migration.controller.job_calls import CallsUnderWay, JobCalls
from descheduler.migration.controller.job_keeper import JobKeeper, Progress
from descheduler.migration.controller.open_creations import OpenCreations
from descheduler.migration.controller.settings import ControllerSettings
from descheduler.migration.controller.task import JobTask
from descheduler.migration.controller.task_limits import TaskLimits
from descheduler.migration.controller.turns import Judge, Turns
from descheduler.migration.dispatch.departures import Unscheduled
from descheduler.migration.dispatch.judgement import Judgement, judge
from descheduler.migration.dispatch.limits import LimitLedger, Room
from descheduler.migration.dispatch.server_patience import ServerPatience
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.dispatch.waves import Waves
from descheduler.migration.events.job_listener import EveryListener
from descheduler.migration.job.conditions import aborted, failed
from descheduler.migration.job.steps import End, Evict
from descheduler.migration.ports import RemovalPort
from descheduler.migration.replacements import is_replaced
from descheduler.migration.store.journal import Journal, NewJob
from descheduler.model.koordinator.migration_job import JobPhase, JobReason, MigrationJob
from descheduler.model.pod import Pod
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction

__all__ = ["JobController"]

_SLICE_SECONDS = 0.1
"""How long the dispatcher may be deaf to the stop flag."""
_LONGEST_PAUSE_SECONDS = 1.0
"""How long it may sleep on where nothing is due: a sleep does not end at the deadline of the run."""

_End = Callable[[MigrationJob], MigrationJob]
"""Makes of a job what it is at its end."""


class JobController:
    """The dispatcher. All state belongs to the calling thread; `around.calls` makes the calls."""

    def __init__(
        self,
        journal: Journal,
        keeper: JobKeeper,
        port: RemovalPort,
        settings: ControllerSettings,
        new_job: Callable[[PlannedEviction], NewJob],
        around: Surroundings,
        judge: Judge | None = None,
        why_closed: Callable[[], str] = lambda: "",
        patience: ServerPatience | None = None,
        ledger: LimitLedger | None = None,
    ) -> None:
        self._limits = TaskLimits(ledger or LimitLedger(settings.eviction.limits))
        self._patience = patience or ServerPatience(settings.eviction, around)
        self._why_closed = why_closed
        self._journal = journal
        self._keeper = keeper
        self._calls = JobCalls(keeper, port, around, why_closed)
        self._settings = settings
        self._new_job = new_job
        self._around = around
        self._queue = Waves[JobTask]()
        self._active: list[JobTask] = []
        self._listener = around.listener or EveryListener()
        self._turns = Turns(judge)
        self._bundles = Bundles(())
        self._unscheduled = Unscheduled()
        self._open_creations = OpenCreations(journal, keeper, settings.eviction, around)
        self._under_way = CallsUnderWay(around.calls)
        self._outcomes: dict[JobTask, Outcome] = {}
        self._stopped_by: tuple[OutcomeCode, str] | None = None

    def run(self, tasks: Iterable[JobTask]) -> tuple[Outcome, ...]:
        """One outcome for each of `tasks`, in their order, once none of their jobs can go on.

        Jobs that are adopted go on at once. Another one is created when no other of its workload is under way, and
        while no more are than the settings allow.
        """
        all_tasks = list(tasks)
        new = [task for task in all_tasks if task.job is None]
        hold_ahead(new)
        self._bundles, self._queue = Bundles(new), Waves(new)
        for task in all_tasks:
            if task.job is not None:
                self._activate(task)
        while self._queue or self._active:
            if (halted := self._patience.halted()) is not None:
                self._wind_up(*halted)
                break
            self._close()
            has_begun = self._begin_next() | self._advance_due() | self._judge_turns() | self._evict_next()
            self._collect()
            self._part_bundles()
            if not has_begun:
                self._pause()
        self._open_creations.settle()
        return tuple(self._outcomes[task] for task in all_tasks)

    def _close(self) -> None:
        """Undoes all whose pod has not left once `why_closed` says so; the others go on to their end."""
        why, now = self._why_closed(), self._around.clock()
        for task in [*self._queue, *self._active] if why else ():
            if not task.may_have_left(now):
                refused = task.judgement if task.num_calls else None
                closed = Judgement(OutcomeKind.NOT_ATTEMPTED, OutcomeCode.WINDOW_CLOSED, why)
                self._leave_out(task, refused or closed, partial(aborted, message=why))
            elif task in self._turns.tasks:
                self._turns.remove(task)
                task.wait(now)

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
        self._under_way.submit(task, partial(self._journal.create, new_job, task.job_name))
        return True

    def _activate(self, task: JobTask) -> None:
        self._active.append(task)
        self._queue.began(task)

    def _advance_due(self) -> bool:
        """Has every job looked at whose time has come; whether there was one."""
        now, busy = self._around.clock(), {id(task) for task in (*self._under_way.tasks, *self._turns.tasks)}
        due = [(task, task.job) for task in self._active if task.job and id(task) not in busy and task.due <= now]
        for task, job in due:
            if task.end is not None:
                self._under_way.submit(task, partial(self._calls.undo, job, task.end))
                continue
            advance = partial(self._keeper.advance, job, holds_only=not self._queue.has_come(task.eviction))
            self._under_way.submit(
                task, advance if task.ends_at is None else partial(self._calls.landed, job, task.eviction)
            )
        return bool(due)

    def _judge_turns(self) -> bool:
        """Has the moves judged once more whose turn it is; whether there were any."""
        under_way = {task.eviction.uid for task in self._active if task.num_calls}
        return self._turns.judge(self._around.calls.submit, self._around.clock(), self._may_go, under_way)

    def _may_go(self, task: JobTask) -> bool:
        is_complete = self._bundles.is_complete(task, self._turns.tasks, self._around.clock())
        return is_complete and self._queue.has_come(task.eviction)

    def _evict_next(self) -> bool:
        """Has the first of the pods evicted whose turn it is, when the pace allows; whether it does."""
        if not self._patience.may_call(sum(task.is_called for task in self._active)):
            return False
        turn = self._turns.next_good(self._around.clock(), self._may_be_called)
        if turn is None:
            return False
        task, (room, limit) = turn.task, self._limits.room_for(turn.task)
        if room is Room.FULL:
            self._leave_out(task, left_out(OutcomeCode.LIMIT, limit), partial(aborted, message=limit))
            return True
        if self._around.paces.try_take(task.eviction.profile) > 0:
            return False
        self._turns.remove(task)
        self._limits.began(task)
        self._bundles.began(task.eviction)
        if not task.is_in_doubt(self._around.clock()):
            task.asked_at = self._around.now()
        task.num_calls += 1
        task.is_called = True
        self._around.open_calls.began(task.eviction)
        eviction = replace(task.eviction, uid=turn.pod.uid)  # which a user's job need not state
        self._under_way.submit(task, partial(self._calls.evict, task.job, eviction, turn.policy), turn.pod)
        return True

    def _may_be_called(self, task: JobTask) -> bool:
        """Whether it may go, and no call in flight tells whether limits have room for it."""
        return self._may_go(task) and self._limits.room_for(task)[0] is not Room.AWAITED

    def _part_bundles(self) -> None:
        """Leaves those out that are left of a bundle of which another one stays."""
        for task in [*self._queue, *self._active] if self._bundles.has_left_overs else ():
            if (why := self._bundles.why_broken(task.eviction)) and not task.may_have_left(self._around.clock()):
                self._leave_out(task, Judgement(OutcomeKind.NOT_ATTEMPTED, OutcomeCode.BUNDLE, why))

    def _leave_out(self, task: JobTask, judgement: Judgement, end: _End | None = None) -> None:
        """Evicts nothing for `task`, whose job is undone as soon as no call for it is under way, and ends as `end`."""
        if task in self._queue:
            self._queue.remove(task)
            self._finish(task, left_out(judgement.code, judgement.message))
        elif task.job is not None and task.end is None and task not in self._under_way.tasks:
            self._turns.remove(task)
            task.judgement = judgement
            self._give_up(task, judgement, end)

    def _pause(self) -> None:
        if self._under_way.wait(_SLICE_SECONDS, self._turns.pending):
            return
        dues = [task.due for task in self._active]
        until_due = 0.0 if len(self._turns) else min(dues, default=0.0) - self._around.clock()
        self._around.sleep(min(max(_SLICE_SECONDS, until_due), _LONGEST_PAUSE_SECONDS))

    def _collect(self) -> None:
        over, error = self._turns.take_judgement(self._around.clock())
        for turn, why in over:
            if error is not None:
                self._failed(turn.task, turn.pod, error)
            else:
                self._leave_out(turn.task, Judgement(OutcomeKind.REFUSED, OutcomeCode.CHANGED, why))
        for task, pod, future in self._under_way.take_done():
            try:
                answer = future.result()
            except Exception as error:  # whatever it is, what was done so far has to be reported
                self._failed(task, pod, error)
                continue
            match answer:
                case Progress():
                    self._progressed(task, answer)
                case MigrationJob():
                    self._listener.changed(None, answer)
                    task.take(answer)
                case EvictionResponse():
                    self._answered(task, pod, answer)
                case None:
                    task.is_called = False
                    self._note_open(task)
                    task.num_calls -= 1

    def _progressed(self, task: JobTask, progress: Progress) -> None:
        task.num_errors = 0
        now = self._around.clock()
        if progress.job is None:
            task.is_deleted = True
            self._finish(task, deleted(task, now))
            return
        task.take(progress.job)
        task.end = None
        task.note_room(now)
        if isinstance(progress.step, End) and progress.job.phase == JobPhase.ABORTED and self._stopped_by is not None:
            self._finish(task, unfinished(task, *self._stopped_by, now))
        elif isinstance(progress.step, End):
            self._await_landing(task, progress)
        elif not isinstance(progress.step, Evict) or progress.pod is None:
            task.wait(now)
            if why := why_left(task, self._settings.adopted_seconds, now):
                self._finish(task, unfinished(task, OutcomeCode.JOB_WAITS, why, now))
        elif (why := strange(task, progress.pod)) and not task.is_adopted and not task.may_have_left(now):
            self._leave_out(task, left_out(OutcomeCode.JOB_WAITS, why), partial(aborted, message=why))
        elif why:
            self._finish(task, unfinished(task, OutcomeCode.JOB_WAITS, why, now))
        elif task.judgement is not None and task.num_faults > self._settings.eviction.max_fault_retries:
            self._give_up(task, task.judgement)
        else:
            self._turns.add(task, progress.pod, progress.step.policy)

    def _await_landing(self, task: JobTask, progress: Progress) -> None:
        """Ends the task of a job that has ended, once its replacement is ready or has had its time to get so."""
        now, replacement = self._around.clock(), progress.replacement
        task.miss = progress.miss
        if replacement is not None and replacement.is_ready:
            task.landed_on = replacement.node_name
        ending = ended(task, now)
        is_left = ending.code is OutcomeCode.DONE and not task.landed_on and is_replaced(task.eviction)
        if not is_left or task.is_adopted:
            self._finish(task, ending)
            return
        if task.ends_at is None:
            task.ends_at = now + self._settings.landing_seconds
        if now < task.ends_at:
            task.wait(now)
        else:
            if replacement is None or not replacement.node_name:
                self._unscheduled.note(task.eviction)
            self._finish(task, not_landed(task))

    def _answered(self, task: JobTask, pod: Pod | None, response: EvictionResponse) -> None:
        eviction = self._settings.eviction
        judgement = judge(
            task.eviction,
            response,
            evictions_in_background=eviction.evictions_in_background,
            fault_wait_seconds=eviction.fault_wait_seconds,
        )
        task.judgement, task.status_code, task.is_called = judgement, response.status_code, False
        self._patience.note(judgement)
        now = self._around.clock()
        if judgement.is_open:
            task.settles_at = now + eviction.effect_seconds
        self._note_open(task)
        task.num_faults += judgement.kind is OutcomeKind.FAILED
        if task.job is None or pod is None:
            raise ValueError(f"pod {task.eviction.name} was evicted without a job")
        if judgement.kind.uses_limits:
            self._limits.ended(task, counts=True)
            self._under_way.submit(task, partial(self._calls.note_eviction, task.job, pod, task.asked_at))
            return
        self._listener.refused(task.job, judgement.message)
        if judgement.kind is OutcomeKind.REFUSED and not task.is_asked_again(now, self._settings.budget_seconds):
            self._give_up(task, judgement)
        else:
            wait_seconds = judgement.retry_after_seconds or self._settings.budget_wait_seconds
            task.due = now + min(wait_seconds, eviction.longest_wait_seconds)

    def _note_open(self, task: JobTask) -> None:
        """No call for the pod is under way; those before may have left its fate open."""
        if task.is_in_doubt(self._around.clock()):
            self._around.open_calls.doubted(task.eviction, task.settles_at)
        else:
            self._around.open_calls.ended(task.eviction)

    def _give_up(self, task: JobTask, judgement: Judgement, end: _End | None = None) -> None:
        """Gives back what is held for a pod that cannot be evicted; what is in doubt is looked at once more before."""
        if task.is_in_doubt(self._around.clock()):
            task.due = task.settles_at
        elif task.job is not None:
            task.end = end or partial(failed, reason=JobReason.FORBIDDEN, message=judgement.message)
            self._under_way.submit(task, partial(self._calls.undo, task.job, task.end))

    def _failed(self, task: JobTask, pod: Pod | None, error: Exception) -> None:
        """A call ended without an answer. The next look tells what became of it, while there is hope of one."""
        now = self._around.clock()
        # The error's text is not repeated unless it is made for people: it may quote a header field with a credential.
        text = str(error) if isinstance(error, KubeError) else f"internal error ({type(error).__name__})"
        task.num_errors += 1
        self._open_creations.failed(task, error)
        if task.is_called:
            if not isinstance(error, KubeError):  # in a defect of this program; else nothing was sent
                task.settles_at = now + self._settings.eviction.effect_seconds
            task.is_called = False
            self._note_open(task)
        if task.job is None:
            self._finish(task, Judgement(OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, text))
        elif task.num_errors == self._settings.most_errors and not (task.is_adopted or task.may_have_left(now)):
            left = task.judgement or Judgement(OutcomeKind.NOT_ATTEMPTED, OutcomeCode.SERVER_ERROR, text)
            self._leave_out(task, left, partial(aborted, message=text))
        elif task.num_errors >= self._settings.most_errors:
            self._finish(task, unfinished(task, OutcomeCode.SERVER_ERROR, text, now))
        else:
            task.wait(now)

    def _wind_up(self, code: OutcomeCode, why: str) -> None:
        """Evicts nothing more; gives back what is held for pods that stay, and leaves the others to the next run."""
        self._stopped_by = code, why
        for task in self._queue:
            self._queue.remove(task)
            self._finish(task, left_out(code, why))
        self._turns.clear()
        patience_seconds = self._settings.eviction.drain_seconds
        self._drain(patience_seconds)
        for task in [task for task in self._under_way.tasks if task.may_create]:
            self._open_creations.doubted(task)  # whoever does not answer may yet do what was asked for
        for task in list(self._active):
            may_undo = task.job is not None and not task.may_have_left(self._around.clock())
            if task.job is not None and may_undo and not self._around.may_call():
                task.end = partial(aborted, message=why)
                self._under_way.submit(task, partial(self._calls.undo, task.job, task.end))
        self._drain(patience_seconds * self._settings.undo_share)
        now = self._around.clock()
        for task in list(self._active):
            self._finish(task, unfinished(task, code, why, now))

    def _drain(self, patience_seconds: float) -> None:
        """Awaits the calls under way for so long at most."""
        give_up_at = self._around.clock() + patience_seconds
        while self._under_way and self._around.clock() < give_up_at:
            self._under_way.wait(_SLICE_SECONDS)
            self._collect()

    def _finish(self, task: JobTask, ending: Judgement) -> None:
        outcome = outcome_of(task, ending)
        if not outcome.is_unconfirmed:
            self._around.open_calls.ended(task.eviction)
        self._limits.ended(task, counts=outcome.kind.uses_limits)
        self._outcomes[task] = outcome
        self._bundles.ended(task, outcome.kind)
        self._open_creations.finished(task)
        if task in self._active:
            self._active.remove(task)
            self._queue.ended(task)
        if self._around.sink is not None:
            self._around.sink.record(outcome)

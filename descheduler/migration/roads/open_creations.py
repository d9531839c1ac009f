"""Jobs and rooms whose creation had no clear answer: what comes of them is looked for before the run ends."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, wait
from functools import partial
from itertools import zip_longest

from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.job.conditions import aborted
from descheduler.migration.roads.job_task import JobTask
from descheduler.migration.roads.keeper import JobKeeper, RoomUnclear
from descheduler.migration.settings import DispatchSettings
from descheduler.migration.store.journal import Journal
from descheduler.migration.store.unclear import CreationUnclear

_SLICE_SECONDS = 0.1
_MOST_TRIES = 10
_WAIT_SECONDS = 3.0
"""Between two tries."""
_HASTE = 6.0
"""The time for calls in flight when a run is stopped, to the time for what is looked after at its very end."""
_ABORTED = "its creation had no clear answer"


class OpenCreations:
    """The open creations of one run. All state belongs to the calling thread; `around.calls` makes the calls.

    A server that gives a call up may carry it out later, for `effect_seconds` of the settings at most.
    """

    def __init__(self, journal: Journal, keeper: JobKeeper, settings: DispatchSettings, around: Surroundings) -> None:
        self._journal = journal
        self._keeper = keeper
        self._settings = settings
        self._around = around
        self._left: list[JobTask] = []

    def failed(self, task: JobTask, error: Exception) -> None:
        """Takes note of how a call for `task` has ended."""
        if isinstance(error, CreationUnclear | RoomUnclear):
            self.doubted(task)

    def doubted(self, task: JobTask) -> None:
        """A creation for `task` may take effect yet: of its job or, if it has one, of its room."""
        task.creation_settles_at = self._around.clock() + self._settings.effect_seconds

    def finished(self, task: JobTask) -> None:
        """Nothing more is done for `task`, whose creations may be open, or whose job could not be undone."""
        is_over = task.is_deleted or (task.job is not None and task.job.has_ended)
        if self._around.clock() < task.creation_settles_at or (task.end is not None and not is_over):
            self._left.append(task)

    def settle(self) -> None:
        """Removes what such creations have made, and tells what may be left. A run that is halted does not wait.

        Without the Lease nothing is done: another run looks after it.
        """
        for number, task in enumerate(self._left):
            while not self._is_halted() and self._around.clock() < task.creation_settles_at:
                self._around.sleep(min(1.0, task.creation_settles_at - self._around.clock()))
            if self._is_halted():
                self._clear_in_haste(self._left[number:])
                break
            if self._around.why_not_call() or not self._clear(task):
                self._around.tell(_may_be_left(task))
        self._left.clear()

    def _is_halted(self) -> bool:
        return self._around.halted() is not None

    def _clear(self, task: JobTask) -> bool:
        """Whether it is certain that nothing is left of `task` now."""
        for _ in range(_MOST_TRIES):
            tried = self._around.calls.submit(partial(self._remove, task))
            self._await([tried], self._settings.effect_seconds)
            if _went_well(tried):
                return True
            if self._is_halted():
                break
            self._around.sleep(_WAIT_SECONDS)
        return False

    def _clear_in_haste(self, tasks: Sequence[JobTask]) -> None:
        """One try for all of `tasks` together: the run has to end."""
        submit = self._around.calls.submit
        tries = [] if self._around.why_not_call() else [submit(partial(self._remove, task)) for task in tasks]
        self._await(tries, self._haste_seconds)
        for task, tried in zip_longest(tasks, tries):
            is_settled = self._around.clock() >= task.creation_settles_at
            if not (is_settled and tried is not None and _went_well(tried)):
                self._around.tell(_may_be_left(task))

    @property
    def _haste_seconds(self) -> float:
        """What a run that has to end can wait here, so that its end comes when the user guide says."""
        return self._settings.drain_seconds / _HASTE

    def _await(self, tries: Sequence[Future[None]], seconds: float) -> None:
        """Waits until `tries` have ended, for so long at most, and not much longer once the run is halted."""
        give_up_at, was_halted = self._around.clock() + seconds, False
        while not all(tried.done() for tried in tries) and self._around.clock() < give_up_at:
            wait(tries, timeout=_SLICE_SECONDS)
            if not was_halted and self._is_halted():
                was_halted, give_up_at = True, min(give_up_at, self._around.clock() + self._haste_seconds)

    def _remove(self, task: JobTask) -> None:
        """Runs on a thread."""
        job = task.job or self._journal.find(task.job_name)
        if job is None:
            return
        if task.job is not None and (job.has_ended or task.is_deleted):
            self._keeper.release_room(job)
        else:
            self._keeper.undo(job, partial(aborted, message=_ABORTED))


def _went_well(tried: Future[None]) -> bool:
    return tried.done() and tried.exception() is None


def _may_be_left(task: JobTask) -> str:
    name = task.job_name if task.job is None else task.job.name
    return f"the job {name} and what holds room for it may be left in the cluster; the next run removes them"

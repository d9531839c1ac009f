"""Plain evictions that come next, judged once more together right before they begin."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from functools import partial

from descheduler.kube.errors import KubeError
from descheduler.migration.dispatch.eviction_task import EvictionTask
from descheduler.migration.dispatch.judgement import Judgement
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.recheck.footprints import Judged
from descheduler.migration.settings import ExecutorSettings
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction

__all__ = ["JudgeAgain", "Rechecks"]

JudgeAgain = Callable[[Sequence[PlannedEviction], Collection[str], Collection[str]], Judged]
"""Judges evictions, given the UIDs of pods that leave already or may, and of those that leave for certain.

Called on a thread. Raises KubeError.
"""

_GOOD_FOR_SECONDS = 5.0
"""A move that has waited longer for the pace since it was judged is judged again."""
_MOST_AT_ONCE = 64
_MOST_ERRORS = 5
"""So many judgements in a row may fail."""


class Rechecks:
    """Those of one run. For the thread that executes; `around.calls` makes the calls."""

    def __init__(self, judge: JudgeAgain, settings: ExecutorSettings, around: Surroundings) -> None:
        self._judge = judge
        self._around = around
        self._wait_seconds = settings.fault_wait_seconds
        self._good_until: dict[EvictionTask, float] = {}
        self._asked: Sequence[EvictionTask] = ()
        self._waiting: set[EvictionTask] = set()
        """Those that need the room of pods whose evictions have no answer."""
        self._future: Future[Judged] | None = None
        self._is_outdated = False
        self._has_changed = False
        self._num_errors = 0
        self._not_before = 0.0
        self.most_at_once = min(_MOST_AT_ONCE, settings.burst + int(settings.qps * _GOOD_FOR_SECONDS))
        """More do not begin while a judgement is good."""

    @property
    def awaited(self) -> Sequence[Future[Judged]]:
        """The judgement that is awaited, if any."""
        return () if self._future is None or self._future.done() else (self._future,)

    def is_good(self, task: EvictionTask) -> bool:
        """Whether the move of `task` was judged lately, and holds."""
        return self._around.clock() <= self._good_until.get(task, -1.0)

    def is_waiting(self, task: EvictionTask) -> bool:
        """Whether no other judgement can be expected of `task` before there is an answer to the eviction of another."""
        return task in self._waiting

    def begin(self, tasks: Sequence[EvictionTask], under_way: Collection[str], granted: Collection[str]) -> None:
        """Has `tasks` judged, unless a judgement is awaited or the last one has just failed."""
        if self._future is None and self._around.clock() >= self._not_before:
            self._asked, self._has_changed = tasks, False
            evictions = [task.eviction for task in tasks]
            self._future = self._around.calls.submit(partial(self._judge, evictions, under_way, granted))

    def forget(self) -> None:
        """What was found may not be so any more, nor what the judgement that is awaited finds."""
        self._good_until.clear()
        self._is_outdated = self._future is not None
        self.wake()

    def wake(self) -> None:
        """An eviction has its answer: what waits for one may be judged again."""
        self._waiting.clear()
        self._has_changed = True

    def take_over(self) -> Sequence[tuple[EvictionTask, Judgement]]:
        """Those of the last judgement whose moves do not hold any more, and those that nobody can judge."""
        if self._future is None or not self._future.done():
            return ()
        future, self._future = self._future, None
        is_outdated, self._is_outdated = self._is_outdated, False
        if is_outdated:
            return ()
        try:
            judged = future.result()
        except Exception as error:
            return self._failed(error)
        self._num_errors, good_until = 0, self._around.clock() + _GOOD_FOR_SECONDS
        waiting = {task for task in self._asked if task.eviction.uid in judged.waiting}
        self._waiting = set() if self._has_changed else waiting
        good = (task for task in self._asked if task.eviction.uid not in judged.objections and task not in waiting)
        self._good_until = dict.fromkeys(good, good_until)
        return [(task, _changed(why)) for task in self._asked if (why := judged.objections.get(task.eviction.uid))]

    def _failed(self, error: Exception) -> Sequence[tuple[EvictionTask, Judgement]]:
        self._num_errors += 1
        self._not_before = self._around.clock() + self._wait_seconds * 2.0 ** (self._num_errors - 1)
        if self._num_errors < _MOST_ERRORS:
            return ()
        self._num_errors, self._not_before = _MOST_ERRORS - 1, 0.0  # those that come next are not waited for as long
        # The error's text is not repeated unless it is made for people: it may quote a header field with a credential.
        text = str(error) if isinstance(error, KubeError) else f"internal error ({type(error).__name__})"
        why = f"not checked again before the eviction: {text}"
        return [(task, Judgement(OutcomeKind.NOT_ATTEMPTED, OutcomeCode.SERVER_ERROR, why)) for task in self._asked]


def _changed(why: str) -> Judgement:
    return Judgement(OutcomeKind.REFUSED, OutcomeCode.CHANGED, why)

"""Plain evictions that come next, judged once more together right before they begin."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from functools import partial

from descheduler.kube.errors import KubeError
from descheduler.migration.dispatch.eviction_task import EvictionTask
from descheduler.migration.dispatch.judgement import Judgement
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.settings import ExecutorSettings
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction

__all__ = ["JudgeAgain", "Rechecks"]

JudgeAgain = Callable[[Sequence[PlannedEviction], Collection[str]], Mapping[str, str]]
"""Given evictions, and UIDs of pods that leave already, the UID of each whose move does not hold any more → why.

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
        self._future: Future[Mapping[str, str]] | None = None
        self._is_outdated = False
        self._num_errors = 0
        self._not_before = 0.0
        self.most_at_once = min(_MOST_AT_ONCE, settings.burst + int(settings.qps * _GOOD_FOR_SECONDS))
        """More do not begin while a judgement is good."""

    @property
    def awaited(self) -> Sequence[Future[Mapping[str, str]]]:
        """The judgement that is awaited, if any."""
        return () if self._future is None or self._future.done() else (self._future,)

    def is_good(self, task: EvictionTask) -> bool:
        """Whether the move of `task` was judged lately, and holds."""
        return self._around.clock() <= self._good_until.get(task, -1.0)

    def begin(self, tasks: Sequence[EvictionTask], under_way: Collection[str]) -> None:
        """Has `tasks` judged, unless a judgement is awaited or the last one has just failed."""
        if self._future is None and self._around.clock() >= self._not_before:
            self._asked = tasks
            evictions = [task.eviction for task in tasks]
            self._future = self._around.calls.submit(partial(self._judge, evictions, under_way))

    def forget(self) -> None:
        """What was found may not be so any more, nor what the judgement that is awaited finds."""
        self._good_until.clear()
        self._is_outdated = self._future is not None

    def take_over(self) -> Sequence[tuple[EvictionTask, Judgement]]:
        """Those of the last judgement whose moves do not hold any more, and those that nobody can judge."""
        if self._future is None or not self._future.done():
            return ()
        future, self._future = self._future, None
        is_outdated, self._is_outdated = self._is_outdated, False
        if is_outdated:
            return ()
        try:
            objections = future.result()
        except Exception as error:
            return self._failed(error)
        self._num_errors, good_until = 0, self._around.clock() + _GOOD_FOR_SECONDS
        self._good_until = {task: good_until for task in self._asked if task.eviction.uid not in objections}
        return [(task, _changed(why)) for task in self._asked if (why := objections.get(task.eviction.uid))]

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

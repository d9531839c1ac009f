"""The pods whose turn to be evicted it is: judged once more in waves, right before they leave."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from descheduler.migration.controller.task import JobTask
from descheduler.migration.job.surge import SCALE_BACK
from descheduler.migration.recheck.footprints import Asked, Judged
from descheduler.model.pod import Pod

__all__ = ["Judge", "Turn", "Turns"]

_GOOD_FOR_SECONDS = 5.0
"""A move that has waited longer for the pace since it was judged is judged again."""


class Judge(Protocol):
    """Says which moves no longer hold; `migration.recheck.footprints.Footprints` is the real one."""

    def judge(self, wave: Sequence[Asked], under_way: Collection[str]) -> Judged:
        """What is found of `wave`. Raises KubeError."""


@dataclass(slots=True, eq=False)
class Turn:
    """One pod as it was just read, to leave in the way `policy` names; good until then, in seconds of the clock."""

    task: JobTask
    pod: Pod
    policy: str
    good_until: float = -1.0


class Turns:
    """A queue. Without a judge every move holds."""

    def __init__(self, judge: Judge | None) -> None:
        self._judge = judge
        self._queue: list[Turn] = []
        self._wave: list[Turn] = []
        self._future: Future[Any] | None = None

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def tasks(self) -> list[JobTask]:
        """Whose turn it is."""
        return [turn.task for turn in self._queue]

    @property
    def pending(self) -> Iterable[Future[Any]]:
        """The judgement that is awaited, if any."""
        return () if self._future is None else (self._future,)

    def add(self, task: JobTask, pod: Pod, policy: str) -> None:
        """It is this pod's turn too."""
        self._queue.append(Turn(task, pod, policy))

    def remove(self, task: JobTask) -> None:
        """It is not this task's turn any more."""
        self._queue = [turn for turn in self._queue if turn.task is not task]

    def clear(self) -> None:
        """Nobody's turn comes any more."""
        self._queue.clear()

    def next_good(self, now: float, may_go: Callable[[JobTask], bool]) -> Turn | None:
        """The first that has been judged and `may_go`."""
        good = (turn for turn in self._queue if self._judge is None or now <= turn.good_until)
        return next((turn for turn in good if may_go(turn.task)), None)

    def judge(
        self,
        submit: Callable[[Callable[[], Judged]], Future[Any]],
        now: float,
        may_go: Callable[[JobTask], bool],
        under_way: Collection[str],
    ) -> bool:
        """Has all judged that may go and were not; whether there are any, and no judgement is awaited."""
        if self._judge is None or self._future is not None:
            return False
        self._wave = [turn for turn in self._queue if now > turn.good_until and may_go(turn.task)]
        if not self._wave:
            return False
        asked = [_asked(turn) for turn in self._wave]
        self._future = submit(partial(self._judge.judge, asked, under_way))
        return True

    def take_judgement(self, now: float) -> tuple[list[tuple[Turn, str]], Exception | None]:
        """The turns of the last wave that are over, with the objection to each, and what went wrong with judging.

        After an error the whole wave is over, and everybody has to be looked at again.
        """
        future = self._future
        if future is None or not future.done():
            return [], None
        self._future = None
        try:
            objections = future.result().objections
        except Exception as error:
            over = [(turn, "") for turn in self._wave if turn in self._queue]
            self._queue = [turn for turn in self._queue if turn not in self._wave]
            return over, error
        for turn in self._wave:
            turn.good_until = now + _GOOD_FOR_SECONDS
        judged = (turn for turn in self._wave if turn in self._queue)  # the others are left out by now, or gone
        over = [(turn, why) for turn in judged if (why := objections.get(turn.task.eviction.uid, ""))]
        self._queue = [turn for turn in self._queue if turn not in [turn for turn, _ in over]]
        return over, None


def _asked(turn: Turn) -> Asked:
    job = turn.task.job
    if job is None or not job.reservation_name:
        return Asked(turn.task.eviction, turn.pod)
    return Asked(turn.task.eviction, turn.pod, job.node_name, job.uid, has_landed=turn.policy == SCALE_BACK)

"""Jobs whose pods are to be evicted next: all is held for them, and they wait for their wave, the pace and limits."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from descheduler.migration.job.steps import Evict
from descheduler.migration.job.surge import SCALE_BACK
from descheduler.migration.recheck.footprints import DueMove
from descheduler.migration.roads.job_task import JobTask
from descheduler.migration.roads.keeper import Progress
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import Pod
from descheduler.plan.planned import PlannedEviction

__all__ = ["Turn", "Turns"]


@dataclass(slots=True, eq=False)
class Turn:
    """One pod as it was just read, to leave in the way `policy` names."""

    task: JobTask
    pod: Pod
    policy: str

    @property
    def eviction(self) -> PlannedEviction:
        """What it is for."""
        return self.task.eviction

    def asked(self) -> DueMove:
        """What is judged once more."""
        job = self.task.job
        if job is None or not job.reservation_name:
            return DueMove(self.eviction, self.pod)
        return DueMove(self.eviction, self.pod, job.node_name, job.uid, has_landed=self.policy == SCALE_BACK)


class Turns:
    """Those of one run, the first to come first."""

    def __init__(self) -> None:
        self._of: dict[JobTask, Turn] = {}

    def __bool__(self) -> bool:
        return bool(self._of)

    def __iter__(self) -> Iterator[Turn]:
        return iter(list(self._of.values()))

    def __contains__(self, turn: Turn) -> bool:
        return self._of.get(turn.task) is turn

    @property
    def tasks(self) -> Collection[JobTask]:
        """Whose turn it is."""
        return self._of.keys()

    def take(self, task: JobTask, pod: Pod, policy: str) -> None:
        """It is the turn of `task`, or still is."""
        if task not in self._of:
            self._of[task] = Turn(task, pod, policy)

    def drop(self, task: JobTask) -> bool:
        """It is not its turn any more; whether it was."""
        return self._of.pop(task, None) is not None

    def clear(self) -> None:
        """It is no turn of any."""
        self._of.clear()

    def late(self, now: float, busy: Collection[JobTask]) -> list[tuple[JobTask, MigrationJob, Progress]]:
        """Those that have waited for long but for `busy` ones, with their jobs and what is known of them."""
        due = [turn for turn in self if turn.task.due <= now and turn.task not in busy]
        return [(t.task, job, Progress(job, Evict(t.policy), t.pod)) for t in due if (job := t.task.job) is not None]

"""The calls for single jobs, each of which runs on a thread, and those of them that are under way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from datetime import datetime
from typing import Any

from descheduler.kube.evict import EvictionResponse
from descheduler.migration.controller.job_keeper import JobKeeper, Progress
from descheduler.migration.controller.removal import remove
from descheduler.migration.controller.task import JobTask
from descheduler.migration.dispatch.surroundings import Background, Surroundings
from descheduler.migration.job.machine import evicting
from descheduler.migration.job.steps import End, WaitForChange
from descheduler.migration.job.surge import SCALE_BACK
from descheduler.migration.ports import RemovalPort
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import Pod
from descheduler.plan.planned import PlannedEviction

__all__ = ["Answer", "CallsUnderWay", "JobCalls"]

Answer = Progress | EvictionResponse | MigrationJob | dict[str, str] | None
"""What a call for a job returns."""


class JobCalls:
    """Safe to use from several threads, each with another job. All raise KubeError.

    `why_closed` is asked right before an eviction is sent, beside what `around` says.
    """

    def __init__(
        self, keeper: JobKeeper, port: RemovalPort, around: Surroundings, why_closed: Callable[[], str]
    ) -> None:
        self._keeper = keeper
        self._port = port
        self._around = around
        self._why_closed = why_closed

    def evict(self, job: MigrationJob | None, eviction: PlannedEviction, policy: str) -> EvictionResponse | None:
        """The response to the eviction; None when the run was halted since the decision."""
        if job is not None and policy == SCALE_BACK:
            return self._keeper.scale_back(job, self._port, eviction, self._may_send)
        at = self._around.now().isoformat(timespec="seconds").replace("+00:00", "Z")
        return remove(self._port, policy, eviction, at, self._may_send)

    def _may_send(self) -> bool:
        return self._around.halted() is None and not self._why_closed() and not self._around.may_call()

    def landed(self, job: MigrationJob, eviction: PlannedEviction) -> Progress:
        """Looks for the replacement of a pod for which no room was held."""
        return Progress(job, End(), replacement=self._keeper.find_replacement(job, eviction))

    def note_eviction(self, job: MigrationJob, pod: Pod, asked_at: datetime | None) -> Progress:
        """Has the job know that its pod was asked to leave; what a deleted one holds is given back."""
        kept = self._keeper.save(job, evicting(job, pod, self._around.now(), asked_at=asked_at))
        if kept is None:
            self._keeper.release(job)
        return Progress(kept, WaitForChange("the pod is to leave") if kept is not None else End(), pod)

    def undo(self, job: MigrationJob, end: Callable[[MigrationJob], MigrationJob]) -> Progress:
        """Gives back what is held for the job, which ends as `end` says."""
        kept = self._keeper.undo(job, end)
        return Progress(kept, End() if kept is None or kept.has_ended else WaitForChange("it keeps changing"))


class CallsUnderWay:
    """The calls that are made by `calls`, each for a task. For the thread that has them made."""

    def __init__(self, calls: Background) -> None:
        self._calls = calls
        self._tasks: dict[Future[Answer], tuple[JobTask, Pod | None]] = {}

    def submit(self, task: JobTask, call: Callable[[], Answer], pod: Pod | None = None) -> None:
        """Has a call for `task` made, which evicts `pod` if one is given."""
        self._tasks[self._calls.submit(call)] = (task, pod)

    def __len__(self) -> int:
        """How many are under way, or have ended and were not taken."""
        return len(self._tasks)

    @property
    def tasks(self) -> list[JobTask]:
        """Those for which a call is under way."""
        return [task for task, _ in self._tasks.values()]

    def take_done(self) -> Iterator[tuple[JobTask, Pod | None, Future[Answer]]]:
        """Those that have ended: of each its task, the pod that it evicts, and its future."""
        for future in [future for future in self._tasks if future.done()]:
            task, pod = self._tasks.pop(future)
            yield task, pod, future

    def wait(self, seconds: float, others: Iterable[Future[Any]] = ()) -> bool:
        """Waits so long, or until one of them or of `others` ends; whether there are any."""
        awaited = [*self._tasks, *others]
        wait(awaited, timeout=seconds, return_when=FIRST_COMPLETED)
        return bool(awaited)

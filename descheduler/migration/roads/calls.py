"""The calls for single jobs, each of which runs on a thread."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from descheduler.kube.evict import EvictionResponse
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.job.machine import evicting
from descheduler.migration.job.steps import End, WaitForChange
from descheduler.migration.job.surge import SCALE_BACK
from descheduler.migration.ports import RemovalPort
from descheduler.migration.roads.keeper import JobKeeper, Progress
from descheduler.migration.roads.removal import remove
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import Pod
from descheduler.plan.planned import PlannedEviction

__all__ = ["JobCalls"]


class JobCalls:
    """Safe to use from several threads, each with another job. All raise ExchangeError."""

    def __init__(self, keeper: JobKeeper, port: RemovalPort, around: Surroundings) -> None:
        self._keeper = keeper
        self._port = port
        self._around = around

    def evict(
        self, job: MigrationJob | None, eviction: PlannedEviction, policy: str, may_send: Callable[[], bool]
    ) -> EvictionResponse | None:
        """The response to the eviction; None where `may_send` has withheld it."""
        if job is not None and policy == SCALE_BACK:
            return self._keeper.scale_back(job, self._port, eviction, may_send)
        at = self._around.now().isoformat(timespec="seconds").replace("+00:00", "Z")
        return remove(self._port, policy, eviction, at, may_send)

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

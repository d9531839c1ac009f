"""Who hears of jobs as they change."""

from __future__ import annotations

from typing import Protocol

from descheduler.model.koordinator.migration_job import MigrationJob

__all__ = ["EveryListener", "JobListener"]


class JobListener(Protocol):
    """Hears of jobs as soon as they are kept, on whichever thread that is. No method may block or raise."""

    def changed(self, old: MigrationJob | None, new: MigrationJob) -> None:
        """`new` is kept in place of `old`; None for a job that is new."""

    def refused(self, job: MigrationJob, why: str) -> None:
        """The API server does not evict the pod of `job` now; it may be asked again."""


class EveryListener:
    """A listener that tells all of `listeners`, in their order."""

    def __init__(self, *listeners: JobListener) -> None:
        self._listeners = listeners

    def changed(self, old: MigrationJob | None, new: MigrationJob) -> None:
        """Tells them."""
        for listener in self._listeners:
            listener.changed(old, new)

    def refused(self, job: MigrationJob, why: str) -> None:
        """Tells them."""
        for listener in self._listeners:
            listener.refused(job, why)

"""Who hears of jobs as they change, and several listeners to jobs or to outcomes as one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from descheduler.migration.ports import OutcomeSink
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.plan.outcome import Outcome
from descheduler.plan.planned import PlannedEviction


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


_logger = logging.getLogger(__name__)


class EverySink:
    """An outcome sink that tells all of `sinks`, in their order."""

    def __init__(self, *sinks: OutcomeSink) -> None:
        self._sinks = sinks

    def planned(self, num_evictions: int) -> None:
        """Tells them."""
        for sink in self._sinks:
            self._tell(sink, lambda sink: sink.planned(num_evictions))

    def record(self, outcome: Outcome) -> None:
        """Tells them. One that fails hears no more, and the others do: no listener ends a run that evicts."""
        for sink in self._sinks:
            self._tell(sink, lambda sink: sink.record(outcome))

    def doubted(self, eviction: PlannedEviction, why: str, at_most_seconds: float) -> None:
        """Tells them."""
        for sink in self._sinks:
            self._tell(sink, lambda sink: sink.doubted(eviction, why, at_most_seconds))

    def turned_away(self, seconds: float) -> None:
        """Tells them."""
        for sink in self._sinks:
            self._tell(sink, lambda sink: sink.turned_away(seconds))

    def _tell(self, sink: OutcomeSink, tell: Callable[[OutcomeSink], None]) -> None:
        try:
            tell(sink)
        except Exception as error:
            self._sinks = tuple(each for each in self._sinks if each is not sink)
            fault = {"to": type(sink).__name__, "err": type(error).__name__}
            _logger.error("Listener to outcomes failed and is not called again", extra={"event_fields": fault})

"""Several listeners to outcomes as one."""

from __future__ import annotations

import logging
from collections.abc import Callable

from descheduler.migration.ports import OutcomeSink
from descheduler.plan.outcome import Outcome
from descheduler.plan.planned import PlannedEviction

__all__ = ["EverySink"]

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

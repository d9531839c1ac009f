"""Several listeners to outcomes as one."""

from __future__ import annotations

import logging

from descheduler.migration.outcome import Outcome
from descheduler.migration.ports import OutcomeSink

__all__ = ["EverySink"]

_logger = logging.getLogger(__name__)


class EverySink:
    """An outcome sink that tells all of `sinks`, in their order."""

    def __init__(self, *sinks: OutcomeSink) -> None:
        self._sinks = sinks

    def record(self, outcome: Outcome) -> None:
        """Tells them. One that fails hears no more, and the others do: no listener ends a run that evicts."""
        for sink in self._sinks:
            try:
                sink.record(outcome)
            except Exception as error:
                self._sinks = tuple(each for each in self._sinks if each is not sink)
                _logger.error("Outcomes are not told any more", extra={"event_fields": _fault(sink, error)})


def _fault(sink: OutcomeSink, error: Exception) -> dict[str, object]:
    return {"to": type(sink).__name__, "err": type(error).__name__}

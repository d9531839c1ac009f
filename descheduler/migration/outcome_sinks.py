"""Several listeners to outcomes as one."""

from __future__ import annotations

from descheduler.migration.outcome import Outcome
from descheduler.migration.ports import OutcomeSink

__all__ = ["EverySink"]


class EverySink:
    """An outcome sink that tells all of `sinks`, in their order."""

    def __init__(self, *sinks: OutcomeSink) -> None:
        self._sinks = sinks

    def record(self, outcome: Outcome) -> None:
        """Tells them."""
        for sink in self._sinks:
            sink.record(outcome)

"""Several listeners to outcomes as one."""

from __future__ import annotations

from descheduler.migration.outcome import Outcome
from descheduler.migration.planned import PlannedEviction
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

    def doubted(self, eviction: PlannedEviction, why: str, at_most_seconds: float) -> None:
        """Tells them."""
        for sink in self._sinks:
            sink.doubted(eviction, why, at_most_seconds)

    def turned_away(self, seconds: float) -> None:
        """Tells them."""
        for sink in self._sinks:
            sink.turned_away(seconds)

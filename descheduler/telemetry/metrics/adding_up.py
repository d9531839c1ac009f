"""The metrics of a process that runs cycle after cycle: what counts adds up, all else is that of the last one."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector, CollectorRegistry

from descheduler.telemetry.metrics.families import run_registry
from descheduler.telemetry.run_record import RunRecord

__all__ = ["RunsSoFar"]

Series = tuple[str, tuple[tuple[str, str], ...]]
_ADD_UP = frozenset({"counter", "histogram"})


class RunsSoFar(Collector):
    """All runs of this process. Safe from any thread."""

    def __init__(self) -> None:
        self._latest: Mapping[str, Metric] = {}
        self._sums: dict[str, dict[Series, float]] = {}
        self._last_success: float | None = None
        self._lock = threading.Lock()
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def add(self, record: RunRecord) -> None:
        """Counts a run that has ended."""
        with self._lock:
            if record.is_success:
                self._last_success = record.ended_at
            latest = {each.name: each for each in run_registry(record, last_success=self._last_success).collect()}
            for name, family in latest.items():
                if family.type in _ADD_UP:
                    self._add_up(name, family)
            self._latest = latest

    def collect(self) -> Iterable[Metric]:
        """The families as they are now."""
        with self._lock:
            return list(self._families())

    @property
    def text(self) -> bytes:
        """All of it in Prometheus's text format."""
        return generate_latest(self._registry)

    def _add_up(self, name: str, family: Metric) -> None:
        sums = self._sums.setdefault(name, {})
        for sample in family.samples:
            series = sample.name, tuple(sample.labels.items())
            sums[series] = sums.get(series, 0.0) + sample.value

    def _families(self) -> Iterator[Metric]:
        for name, latest in self._latest.items():
            if name not in self._sums:
                yield latest
                continue
            family = Metric(name, latest.documentation, latest.type)
            for (sample, labels), total in self._sums[name].items():
                family.add_sample(sample, dict(labels), total)
            yield family

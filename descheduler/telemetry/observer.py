"""What a run is seen doing, and how long it and each stage of its migration jobs take: for metrics and traces."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import Enum
from typing import TYPE_CHECKING, Protocol

import msgspec

from descheduler.model.koordinator.eviction_annotations import PROVIDER_ANNOTATION
from descheduler.model.koordinator.migration_job import JobConditionType, JobMode, MigrationJob
from descheduler.telemetry.live_lines import log_doubt, log_eviction, log_missing_events, log_overload, log_skipped
from descheduler.telemetry.logging import fields

if TYPE_CHECKING:
    from descheduler.cluster.snapshot import Snapshot
    from descheduler.plan.moves import Move
    from descheduler.plan.outcome import Outcome
    from descheduler.plan.planned import PlannedEviction
    from descheduler.telemetry.progress import EvictionProgress

_logger = logging.getLogger(__name__)


class PluginRun(msgspec.Struct, frozen=True):
    """One run of a plugin; a run that decides again runs its plugins again."""

    profile: str
    plugin: str
    seconds: float


class SpanPort(Protocol):
    """Where spans go; `descheduler.telemetry.tracing` has the real one. Must not raise."""

    def span(self, name: str, attributes: Mapping[str, str]) -> AbstractContextManager[object]:
        """A context that is a span, below the one that is open."""

    def record(self, outcome: Outcome) -> None:
        """Takes note of how an eviction ended."""


class _NoSpans:
    def span(self, name: str, attributes: Mapping[str, str]) -> AbstractContextManager[object]:
        return nullcontext()

    def record(self, outcome: Outcome) -> None:
        """Forgets it."""


NO_SPANS: SpanPort = _NoSpans()
"""Nothing is traced."""


class RunObserver:
    """Sees one run, from one thread. `clock` gives monotonic seconds. Every context is timed also when it fails."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, spans: SpanPort = NO_SPANS) -> None:
        self._clock = clock
        self._spans = spans
        self.run_seconds: float | None = None
        """Of the whole run."""
        self.cycle_seconds: float | None = None
        """From the first object read to the last outcome; None when nothing was read."""
        self.snapshot_seconds: float | None = None
        self.num_objects: Mapping[str, int] = {}
        """Kind → objects of the snapshot; empty when it was not read whole."""
        self.plugin_runs: list[PluginRun] = []
        self.progress: EvictionProgress | None = None
        """Shows how far the evictions are; None where no progress is shown."""
        self.jobs = JobStages(clock)
        """How far migration jobs came."""
        self._has_seen_overload = False

    @contextmanager
    def run(self) -> Iterator[None]:
        """A context for the whole run."""
        started = self._clock()
        try:
            with self._spans.span("Run", {}):
                yield
        finally:
            self.run_seconds = self._clock() - started

    @contextmanager
    def cycle(self) -> Iterator[None]:
        """A context for reading, deciding and evicting."""
        started = self._clock()
        try:
            yield
        finally:
            self.cycle_seconds = self._clock() - started
            if self.progress is not None:
                self.progress.end()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """A context for reading the cluster or a dump."""
        started = self._clock()
        try:
            with self._spans.span("Snapshot", {}):
                yield
        finally:
            self.snapshot_seconds = self._clock() - started

    def snapshot_read(self, snapshot: Snapshot) -> None:
        """Takes note of how much was read, and logs what was left out as broken."""
        log_skipped(snapshot.skipped)
        counts = {
            "Node": len(snapshot.nodes),
            "Pod": len(snapshot.pods),
            "Namespace": len(snapshot.namespaces),
            "PriorityClass": len(snapshot.priority_classes),
            "PersistentVolumeClaim": len(snapshot.claims),
            "PodDisruptionBudget": len(snapshot.budgets),
            "Workload": len(snapshot.workloads),
            "PodMigrationJob": len(snapshot.migration_jobs),
            "NodeMetrics": len(snapshot.node_usage),
            "PodMetrics": len(snapshot.pod_usage),
        }
        always = {"Node", "Pod"}
        self.num_objects = {kind: num for kind, num in counts.items() if num or kind in always}

    @contextmanager
    def plugin_run(self, profile: str, plugin: str, operation: str) -> Iterator[None]:
        """A context for one run of a plugin. What it raises is logged with its traceback at verbosity 6."""
        started = self._clock()
        try:
            with self._spans.span(plugin, {"plugin": plugin, "profile": profile, "operation": operation}):
                yield
        except Exception as error:
            named = fields(profile=profile, strategy=plugin)
            _logger.log(logging.INFO - 6, "Traceback of a plugin that failed", exc_info=error, extra=named)
            raise
        finally:
            self.plugin_runs.append(PluginRun(profile, plugin, self._clock() - started))

    def mark(self) -> int:
        """How many runs of plugins there were so far."""
        return len(self.plugin_runs)

    def back_to(self, mark: int) -> None:
        """Forgets the runs of plugins since: they are asked again, and one of each counts."""
        del self.plugin_runs[mark:]

    def reordered(self, moves: Sequence[Move]) -> None:
        """The order of evictions is not measured."""

    def planned(self, num_evictions: int) -> None:
        """Takes note of how many evictions there are in all."""
        if self.progress is not None:
            self.progress.planned(num_evictions)

    def record(self, outcome: Outcome) -> None:
        """Takes note of how an eviction ended, and logs it."""
        self._spans.record(outcome)
        log_eviction(outcome)
        if self.progress is not None:
            self.progress.record(outcome)

    def record_for_user(self, outcome: Outcome) -> None:
        """Takes note of how an eviction ended that no plugin has asked for, and logs it."""
        self._spans.record(outcome)
        log_eviction(outcome)

    def doubted(self, eviction: PlannedEviction, why: str, at_most_seconds: float) -> None:
        """Logs that the run waits for the fate of a pod."""
        log_doubt(eviction, why, at_most_seconds)

    def turned_away(self, seconds: float) -> None:
        """Logs the first time of the run that it waits for an overloaded API server."""
        if not self._has_seen_overload:
            self._has_seen_overload = True
            log_overload(seconds)

    def events_missed(self, reason: str) -> None:
        """Logs that Events could not be written."""
        log_missing_events(reason)


class JobStage(Enum):
    """What a job waits for."""

    PENDING = "pending"
    """It has not begun."""
    RESERVING = "reserving"
    """A node for its Reservation or placeholder."""
    WAITING = "waiting"
    """Its turn: the pace, budgets and the check against the cluster."""
    EVICTING = "evicting"
    """The end of the pod, which was asked to leave."""
    LANDING = "landing"
    """A replacement that is ready."""
    ENDED = "ended"
    """Nothing."""


def stage_of(job: MigrationJob) -> JobStage:
    """The stage that `job` is in."""
    if job.has_ended:
        return JobStage.ENDED
    if not job.is_under_way or not job.phase:
        return JobStage.PENDING
    if (eviction := job.found(JobConditionType.EVICTION)) is not None:
        return JobStage.LANDING if eviction.is_true else JobStage.EVICTING
    is_placed = job.has(JobConditionType.RESERVATION_SCHEDULED)
    return JobStage.WAITING if is_placed or job.mode == JobMode.EVICT_DIRECTLY else JobStage.RESERVING


class _Known(msgspec.Struct, frozen=True):
    """A job as it was last seen; `since` is when it came to its stage, None where that was before the run."""

    phase: str
    reason: str
    provider: str
    stage: JobStage
    since: float | None


class JobStages:
    """Hears of the jobs of one run, on any thread. `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._jobs: dict[str, _Known] = {}
        self._seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._lock = threading.Lock()

    def changed(self, old: MigrationJob | None, new: MigrationJob) -> None:
        """Takes note of a job that is kept as `new`."""
        stage, now = stage_of(new), self._clock()
        provider = new.annotations.get(PROVIDER_ANNOTATION, "")
        with self._lock:
            known = self._jobs.get(new.uid)
            is_same = known is not None and known.stage is stage
            if known is not None and known.since is not None and not is_same:
                self._seconds[known.stage.value, provider].append(now - known.since)
            since = known.since if known is not None and is_same else now
            if known is None and old is not None and stage_of(old) is stage:
                since = None
            self._jobs[new.uid] = _Known(new.phase, new.reason, provider, stage, since)

    def refused(self, job: MigrationJob, why: str) -> None:
        """Nothing: the job is in the stage in which it was."""

    @property
    def counts(self) -> Mapping[tuple[str, ...], int]:
        """Phase, reason and provider → jobs that are there now."""
        with self._lock:
            return Counter((job.phase, job.reason, job.provider) for job in self._jobs.values())

    @property
    def seconds(self) -> Mapping[tuple[str, ...], Sequence[float]]:
        """Stage and provider → how long each job was in that stage, of those that came to it and left it in the run."""
        with self._lock:
            return {labels: tuple(seconds) for labels, seconds in self._seconds.items()}

"""How far the migration jobs of a run have come, and how long each stage of theirs took."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

import msgspec

from descheduler.model.koordinator.eviction_annotations import PROVIDER_ANNOTATION
from descheduler.model.koordinator.migration_job import JobConditionType, JobMode, MigrationJob

__all__ = ["JobStage", "JobStages", "stage_of"]


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

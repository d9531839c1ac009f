"""The order in which waiting PodMigrationJobs are let go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from descheduler.eviction.migration_controller.migrating_pods import MigratingPods
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.koordinator.pod_order import Importance, importance
from descheduler.model.pod import Pod

__all__ = ["PodsOfJobs", "in_order"]

PodsOfJobs = Mapping[str, Pod]
"""Name of a job → the pod that it is about; no entry for one whose pod is not there."""


def in_order(jobs: Iterable[MigrationJob], pods: PodsOfJobs, migrating: MigratingPods) -> list[MigrationJob]:
    """`jobs` as Koordinator goes through them, which sorts four times and stably, the last time most significantly.

    Newer jobs go first; before that jobs without a pod, then those of less important pods; jobs for pods of one batch
    Job are adjacent, at the best place among them; and batch Jobs with most pods on the move come first, to get them
    over with. Ties go by name. Source: koordinator 1.8 `pkg/descheduler/controllers/migration/arbitrator/sort.go`.
    """
    by_age = sorted(jobs, key=lambda job: (-_second_created(job), job.name))
    by_pod = sorted(by_age, key=lambda job: _importance(pods.get(job.name)))
    adjacent = _adjacent(by_pod, pods)
    return sorted(adjacent, key=lambda job: -migrating.num_of_controller(_batch_job(job, pods)))


def _second_created(job: MigrationJob) -> int:
    return int(job.created_at.timestamp()) if job.created_at is not None else 0


def _importance(pod: Pod | None) -> tuple[bool, Importance | None]:
    return (False, None) if pod is None else (True, importance(pod))


def _adjacent(jobs: list[MigrationJob], pods: PodsOfJobs) -> list[MigrationJob]:
    """`jobs` with each one moved up to the first of its batch Job."""
    first: dict[str, int] = {}
    places = {job.name: first.setdefault(_batch_job(job, pods) or job.name, at) for at, job in enumerate(jobs)}
    return sorted(jobs, key=lambda job: places[job.name])


def _batch_job(job: MigrationJob, pods: PodsOfJobs) -> str:
    """UID of the batch Job that controls the pod of `job`, else ""."""
    pod = pods.get(job.name)
    controller = None if pod is None else pod.controller
    return controller.uid if controller is not None and controller.kind == "Job" else ""

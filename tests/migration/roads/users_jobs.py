"""PodMigrationJobs of users in any phase, and what came of them."""

from __future__ import annotations

from typing import Any

from descheduler.cycle.options import RunResult
from descheduler.plan.outcome import OutcomeCode
from tests.living.builders import deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.migration.roads.test_users_limits import user_job

Object = dict[str, Any]
JOBS = "podmigrationjobs.scheduling.koordinator.sh"


def job_for(victim: Object, phase: str = "Running", *, name: str = "", **status: Any) -> Object:
    """A user's job for `victim` by its UID, in this phase already."""
    job = user_job(name or f"job-{victim['metadata']['name']}", victim)
    job["spec"]["podRef"]["uid"] = victim["metadata"]["uid"]
    return job | {"status": {"phase": phase, **status}}


def status_of(cluster: LivingCluster, name: str = "") -> Object:
    """The status of a job, of the only one without a name."""
    (found,) = [job for job in cluster.all(JOBS) if name in ("", job["metadata"]["name"])]
    status: Object = found["status"]
    return status


def codes(result: RunResult) -> list[OutcomeCode]:
    return [outcome.code for outcome in result.all_outcomes]


def crowd(number: int, phase: str = "Running") -> LivingCluster:
    """So many Deployments, and for a pod of each a user's job in this phase."""
    workloads = [deployment(f"app-{n:02}", 3, on=["n2"] * 3, cpu="10m", grace_seconds=1) for n in range(number)]
    cluster = living_cluster([node("n1"), node("n2"), node("n3")], workloads)
    for n in range(number):
        cluster.add(job_for(cluster.pods(f"app-{n:02}")[0], phase, name=f"job-{n:02}"))
    return cluster

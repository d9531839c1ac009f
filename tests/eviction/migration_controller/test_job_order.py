"""The order in which waiting jobs are let go."""

from __future__ import annotations

import pytest

from descheduler.eviction.migration_controller.arbitration import in_order
from descheduler.eviction.migration_controller.migrating_pods import MigratingPods
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import Pod
from tests.eviction.migration_controller.koordinator_clusters import make_cluster, make_job, make_koord_pod

BATCH = ("Job/etl",)


def order_of(jobs: dict[str, MigrationJob], pods: dict[str, Pod], *moving: Pod) -> list[str]:
    """Names of `jobs` in order; `pods` by the name of the job."""
    migrating = MigratingPods(make_cluster([*pods.values(), *moving]).view)
    for pod in moving:
        migrating.move(pod)
    return [job.name for job in in_order(jobs.values(), pods, migrating)]


def cluster_of(**facts: tuple[float, Pod | None]) -> tuple[dict[str, MigrationJob], dict[str, Pod]]:
    """Jobs by name, each from its age and its pod, which may be missing; and the pods that are there."""
    gone = make_koord_pod("gone")
    jobs = {name: make_job(pod or gone, phase="", name=name, age=age) for name, (age, pod) in facts.items()}
    return jobs, {name: pod for name, (_, pod) in facts.items() if pod is not None}


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        pytest.param(
            {"older": (90, make_koord_pod("a")), "newer": (30, make_koord_pod("b"))},
            ["newer", "older"],
            id="newer jobs go first",
        ),
        pytest.param(
            {"b": (30.4, make_koord_pod("a")), "a": (30.2, make_koord_pod("b"))},
            ["a", "b"],
            id="jobs of one second go by name",
        ),
        pytest.param(
            {"prod": (30, make_koord_pod("a", priority=9500)), "batch": (90, make_koord_pod("b", priority=5500))},
            ["batch", "prod"],
            id="jobs of less important pods go before newer ones",
        ),
        pytest.param(
            {"batch": (30, make_koord_pod("b", priority=3000)), "missing": (90, None)},
            ["missing", "batch"],
            id="jobs without a pod go before all",
        ),
        pytest.param(
            {
                "low-1": (30, make_koord_pod("a", priority=5000, owners=BATCH)),
                "mid": (30, make_koord_pod("b", priority=5001)),
                "low-2": (30, make_koord_pod("c", priority=5002, owners=BATCH)),
                "high": (30, make_koord_pod("d", priority=5003)),
            },
            ["low-1", "low-2", "mid", "high"],
            id="jobs for pods of one batch Job are adjacent, at the best place among them",
        ),
        pytest.param(
            {
                "a": (30, make_koord_pod("a", priority=5000)),
                "b": (30, make_koord_pod("b", priority=5001)),
                "c": (30, make_koord_pod("c", priority=5002)),
            },
            ["a", "b", "c"],
            id="replicas of other workloads are not drawn together",
        ),
    ],
)
def test_jobs_wait_in_order(jobs: dict[str, tuple[float, Pod | None]], expected: list[str]) -> None:
    assert order_of(*cluster_of(**jobs)) == expected


def test_batch_job_with_most_pods_on_the_move_comes_first() -> None:
    jobs, pods = cluster_of(
        web=(30, make_koord_pod("a", priority=3000)),
        other=(30, make_koord_pod("b", priority=3001, owners=("Job/other",))),
        etl=(30, make_koord_pod("c", priority=9000, owners=BATCH)),
    )
    moving = [make_koord_pod("x", owners=BATCH), make_koord_pod("y", owners=BATCH)]
    also = make_koord_pod("z", owners=("Job/other",))

    assert order_of(jobs, pods, *moving, also) == ["etl", "other", "web"]

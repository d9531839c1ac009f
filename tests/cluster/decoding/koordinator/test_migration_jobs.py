"""PodMigrationJobs as the API states them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.model.koordinator.migration_job import JobCondition, MigrationJob
from descheduler.model.koordinator.reservation import ObjectReference
from tests.builders import NOW, ago

EVICT, PASSED = "descheduler.alpha.kubernetes.io/evict", "descheduler.koordinator.sh/passed-arbitration"


def read_job(metadata: dict[str, Any] | None = None, **fields: Any) -> MigrationJob:
    """A job named `j`, by way of a snapshot."""
    header = {"kind": "PodMigrationJob", "apiVersion": "scheduling.koordinator.sh/v1alpha1"}
    (job,) = snapshot_from_objects([{**header, "metadata": {"name": "j", **(metadata or {})}, **fields}]).migration_jobs
    return job


def test_job_says_which_pod_moves_how_and_for_how_long() -> None:
    job = read_job(
        {"creationTimestamp": ago(60), "annotations": {EVICT: "", PASSED: "true", "note": "x"}},
        spec={
            "paused": True,
            "ttl": "5m0s",
            "mode": "EvictDirectly",
            "podRef": {"namespace": "shop", "name": "cart", "uid": "1"},
        },
        status={"phase": "Running"},
    )

    assert job == MigrationJob(
        "j",
        "Running",
        "shop",
        "cart",
        "1",
        created_at=NOW - timedelta(seconds=60),
        is_paused=True,
        ttl=timedelta(minutes=5),
        mode="EvictDirectly",
        annotations={EVICT: "", PASSED: "true"},
    )


def test_job_without_spec_and_status_names_no_pod() -> None:
    assert read_job() == MigrationJob("j", "", "", "", "")


def test_job_says_how_far_it_is() -> None:
    conditions = [
        {"type": "Eviction", "status": "True", "reason": "Evicting", "lastTransitionTime": ago(5)},
        {"type": "ReservationScheduled", "status": "False"},
        {},
    ]
    status = {
        "phase": "Failed",
        "status": "Eviction",
        "reason": "Timeout",
        "nodeName": "n",
        "podRef": {"namespace": "shop", "name": "new", "uid": "2"},
        "conditions": conditions,
    }

    job = read_job(
        {"deletionTimestamp": ago(1)}, spec={"reservationOptions": {"reservationRef": {"name": "r"}}}, status=status
    )

    assert (job.phase, job.condition, job.reason, job.node_name) == ("Failed", "Eviction", "Timeout", "n")
    assert (job.is_terminating, job.reservation_name) == (True, "r")
    assert job.replacement == ObjectReference("shop", "new", "2")
    assert job.conditions == (
        JobCondition("Eviction", True, "Evicting", transitioned_at=NOW - timedelta(seconds=5)),
        JobCondition("ReservationScheduled", False),
        JobCondition("", False),
    )


@pytest.mark.parametrize("status", [{"podRef": {}}, {"podRef": None}])
def test_replacement_is_known_once_the_job_names_one(status: dict[str, Any]) -> None:
    assert read_job(status=status).replacement == (None if status["podRef"] is None else ObjectReference())


def test_time_limit_that_is_no_duration_is_refused() -> None:
    with pytest.raises(ValueError, match="'5 minutes' is not a duration"):
        read_job(spec={"ttl": "5 minutes"})

"""How far PodMigrationJobs have come, by their phase and by what arbitration has noted (koordinator.md 2)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from descheduler.model.koordinator.migration_job import JobCondition, JobConditionType, MigrationJob
from tests.builders import NOW

PASSED = {"descheduler.koordinator.sh/passed-arbitration": "true"}
FAILED_ARBITRATION = {"descheduler.koordinator.sh/passed-arbitration": "false"}


def job(phase: str = "", **facts: Any) -> MigrationJob:
    return MigrationJob("j", phase, "default", "p", "u", **facts)


@pytest.mark.parametrize(
    ("found", "states"),
    [
        pytest.param(job(), (True, True, False, False), id="nobody has looked at it"),
        pytest.param(job("Pending"), (True, True, False, False), id="it waits for its turn"),
        pytest.param(
            job("Pending", annotations=FAILED_ARBITRATION),
            (True, True, False, False),
            id="another text is no admission",
        ),
        pytest.param(job("Pending", annotations=PASSED), (True, False, True, False), id="it is admitted"),
        pytest.param(job(annotations=PASSED), (True, False, True, False), id="it is admitted, and has no phase yet"),
        pytest.param(job("Running"), (True, False, True, False), id="it runs"),
        pytest.param(job("Succeeded", annotations=PASSED), (False, False, False, True), id="it has succeeded"),
        pytest.param(job("Failed"), (False, False, False, True), id="it has failed"),
        pytest.param(job("Aborted"), (False, False, False, True), id="it was aborted"),
        pytest.param(job("Resting", annotations=PASSED), (False, False, False, False), id="a phase of a later release"),
    ],
)
def test_job_is_live_waits_is_under_way_or_has_ended(found: MigrationJob, states: tuple[bool, ...]) -> None:
    assert (found.is_live, found.is_waiting, found.is_under_way, found.has_ended) == states


@pytest.mark.parametrize(
    ("facts", "is_over"),
    [
        pytest.param({"ttl": timedelta(minutes=61)}, False, id="before its end"),
        pytest.param({"ttl": timedelta(minutes=60)}, True, id="at its end"),
        pytest.param({"ttl": timedelta(minutes=59)}, True, id="past its end"),
        pytest.param({"ttl": timedelta(minutes=59), "is_paused": True}, False, id="a paused job has none"),
        pytest.param({"ttl": timedelta(0)}, False, id="0 is no limit"),
        pytest.param({"ttl": timedelta(seconds=-1)}, False, id="nor is less than 0"),
        pytest.param({}, False, id="no limit"),
        pytest.param({"ttl": timedelta(minutes=59), "created_at": None}, False, id="it is not known since when"),
    ],
)
def test_job_has_time_until_its_ttl_is_over(facts: dict[str, Any], is_over: bool) -> None:
    found = job(**{"created_at": NOW - timedelta(minutes=60), **facts})

    assert found.is_over_time(NOW) is is_over


def test_condition_counts_once_it_is_true() -> None:
    created, scheduled = (
        JobCondition(kind.value, is_true)
        for kind, is_true in (
            (JobConditionType.RESERVATION_CREATED, True),
            (JobConditionType.RESERVATION_SCHEDULED, False),
        )
    )
    found = job("Running", conditions=(created, scheduled))

    assert found.found(JobConditionType.RESERVATION_SCHEDULED) is scheduled
    assert found.found(JobConditionType.EVICTION) is None
    assert [found.has(kind) for kind in JobConditionType][:3] == [True, False, False]


def test_annotation_lets_a_job_past_the_limits_of_its_workload_whatever_its_value() -> None:
    assert job(annotations={"descheduler.alpha.kubernetes.io/evict": "false"}).ignores_object_limiters
    assert not job().ignores_object_limiters

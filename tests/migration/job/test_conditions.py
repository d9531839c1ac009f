"""What the conditions of a job say, and when a replacement that has no node has waited for too long."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from descheduler.migration.job.conditions import is_stuck, with_condition, without_condition
from descheduler.model.koordinator.migration_job import JobCondition, JobConditionType, JobReason, MigrationJob
from tests.builders import NOW, make_pod


def job(gone_seconds: float | None) -> MigrationJob:
    """One whose pod has been gone for so long; None where it has a condition of no eviction."""
    found = MigrationJob("j", "Running", "default", "web-0", "u")
    if gone_seconds is None:
        return found
    gone = JobCondition(JobConditionType.EVICTION.value, True, transitioned_at=NOW - timedelta(seconds=gone_seconds))
    return MigrationJob("j", "Running", "default", "web-0", "u", conditions=(gone,))


@pytest.mark.parametrize(
    ("gone", "age", "node", "expected"),
    [
        pytest.param(90, 70, "", True, id="both for a minute"),
        pytest.param(50, 70, "", False, id="the pod has left only now"),
        pytest.param(90, 50, "", False, id="the replacement has come only now"),
        pytest.param(90, 70, "a", False, id="it has a node"),
        pytest.param(None, 70, "", True, id="no pod has to leave before"),
        pytest.param(60, 60, "", True, id="both for exactly a minute"),
        pytest.param(59, 60, "", False, id="the pod has left a second later"),
        pytest.param(60, 59, "", False, id="the replacement has come a second later"),
    ],
)
def test_replacement_is_stuck_after_a_minute_without_a_node(
    gone: float | None, age: int, node: str, expected: bool
) -> None:
    replacement = replace(make_pod("web-1", node=node, phase="Pending"), created_at=NOW - timedelta(seconds=age))

    assert is_stuck(job(gone), replacement, NOW - timedelta(seconds=60)) is expected
    assert not is_stuck(job(gone), None, NOW)


def test_replacement_of_which_nobody_knows_when_it_came_is_not_stuck() -> None:
    assert not is_stuck(job(90), replace(make_pod("web-1", node=""), created_at=None), NOW)


def test_replacement_is_stuck_where_nobody_knows_when_the_pod_was_gone() -> None:
    gone = JobCondition(JobConditionType.EVICTION.value, True)
    unknown = MigrationJob("j", "Running", "default", "web-0", "u", conditions=(gone,))

    assert is_stuck(unknown, replace(make_pod("web-1", node=""), created_at=NOW), NOW)


LATER = NOW + timedelta(minutes=1)
EVICTION, READY = JobConditionType.EVICTION, JobConditionType.BOUND_POD_READY


def test_condition_says_since_when_it_is_as_true_as_it_is() -> None:
    asked = with_condition(job(None), EVICTION, False, NOW, JobReason.EVICTING, "asked")
    told = with_condition(asked, EVICTION, False, LATER, JobReason.EVICTING, "asked again")
    gone = with_condition(told, EVICTION, True, LATER, JobReason.EVICT_COMPLETE, "gone", probed_at=NOW)

    assert asked.conditions == (JobCondition("Eviction", False, "Evicting", "asked", NOW, NOW),)
    assert told.conditions == (JobCondition("Eviction", False, "Evicting", "asked again", LATER, NOW),)
    assert gone.conditions == (JobCondition("Eviction", True, "EvictComplete", "gone", NOW, LATER),)
    assert (gone.condition, gone.reason, gone.message) == ("Eviction", "EvictComplete", "gone")


def test_condition_that_says_nothing_new_leaves_the_job_as_it_is() -> None:
    asked = with_condition(job(None), EVICTION, False, NOW, JobReason.EVICTING, "asked")

    assert with_condition(asked, EVICTION, False, LATER, JobReason.EVICTING, "asked") is asked


def test_each_condition_stands_once_and_in_the_order_in_which_it_came() -> None:
    made = with_condition(with_condition(job(None), EVICTION, False, NOW), READY, False, NOW)
    made = with_condition(made, EVICTION, True, LATER)

    assert [(each.type, each.is_true) for each in made.conditions] == [("Eviction", True), ("BoundPodReady", False)]
    assert [each.type for each in without_condition(made, EVICTION).conditions] == ["BoundPodReady"]

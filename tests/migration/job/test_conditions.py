"""When a replacement that has no node has waited for too long."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from descheduler.migration.job.conditions import is_stuck
from descheduler.model.koordinator.migration_job import JobCondition, JobConditionType, MigrationJob
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
    ],
)
def test_replacement_is_stuck_after_a_minute_without_a_node(
    gone: float | None, age: int, node: str, expected: bool
) -> None:
    replacement = replace(make_pod("web-1", node=node, phase="Pending"), created_at=NOW - timedelta(seconds=age))

    assert is_stuck(job(gone), replacement, NOW - timedelta(seconds=60)) is expected
    assert not is_stuck(job(gone), None, NOW)

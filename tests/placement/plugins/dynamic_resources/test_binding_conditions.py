"""Binding conditions of allocated devices: what the driver still has to say before a pod can use them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pytest

from descheduler.model.resource_claims import AllocationResult, ClaimAllocation, DeviceId, DeviceStatus
from descheduler.placement.plugins.dynamic_resources.search.allocation import is_available
from tests.builders import NOW, make_node

DEVICE = DeviceId("gpu.example.com", "a", "x")
RESULT = AllocationResult("r", DEVICE, binding_conditions=("ready", "attached"), binding_failures=("broken",))
IN_TIME, LATE = timedelta(minutes=10), timedelta(minutes=10, seconds=1)


@pytest.mark.parametrize(
    ("conditions", "age", "expected"),
    [
        pytest.param({}, IN_TIME, True, id="nothing is said yet"),
        pytest.param({"ready": "True"}, IN_TIME, True, id="one condition is missing"),
        pytest.param({"ready": "True"}, LATE, False, id="one is missing after ten minutes"),
        pytest.param({"ready": "True", "attached": "False"}, LATE, False, id="one is false after ten minutes"),
        pytest.param({"ready": "True", "attached": "True"}, LATE, True, id="all are true"),
        pytest.param({"ready": "True", "attached": "True", "broken": "True"}, IN_TIME, False, id="binding failed"),
        pytest.param({"broken": "False"}, IN_TIME, True, id="binding did not fail"),
    ],
)
def test_claim_is_available_while_its_devices_can_still_be_prepared(
    conditions: Mapping[str, str], age: timedelta, expected: bool
) -> None:
    allocation = ClaimAllocation((RESULT,), allocated_at=NOW - age)

    assert is_available(allocation, [DeviceStatus(DEVICE, conditions)], make_node("a"), NOW) == expected


def test_no_binding_is_late_without_a_time() -> None:
    allocation = ClaimAllocation((RESULT,), allocated_at=NOW - LATE)

    assert is_available(allocation, [], make_node("a"), None)

"""Which devices a DeviceTaintRule taints."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.resource_claims import DeviceId, DeviceTaint, DeviceTaintRule

DEVICE = DeviceId("gpu.example.com", "node-a", "gpu-0")


@pytest.mark.parametrize(
    ("selector", "is_selected"),
    [
        pytest.param({"has_selector": False}, False, id="no selector"),
        pytest.param({}, True, id="an empty selector"),
        pytest.param({"driver": DEVICE.driver, "device": DEVICE.device}, True, id="fields that it has"),
        pytest.param({"driver": DEVICE.driver, "pool": "node-b"}, False, id="another pool"),
        pytest.param({"device": "gpu-1"}, False, id="another device"),
    ],
)
def test_rule_taints_devices_with_all_fields_of_its_selector(selector: dict[str, Any], is_selected: bool) -> None:
    rule = DeviceTaintRule("r", DeviceTaint("k", "", "NoSchedule"), **{"has_selector": True, **selector})

    assert rule.selects(DEVICE) is is_selected

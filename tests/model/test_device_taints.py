"""Which devices DeviceTaintRules taint, and which slices say what a device is now."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.model.resource_claims import (
    DeviceId,
    DeviceTaint,
    DeviceTaintRule,
    NodeReach,
    ResourceSlice,
    SliceDevice,
    TaintRules,
    listed_taints,
)
from tests.work_counts import num_calls

DEVICE = DeviceId("gpu.example.com", "node-a", "gpu-0")


def rule(key: str, **selector: Any) -> DeviceTaintRule:
    return DeviceTaintRule("r", DeviceTaint(key, "", "NoSchedule"), **{"has_selector": True, **selector})


@pytest.mark.parametrize(
    ("selector", "is_selected"),
    [
        pytest.param({"has_selector": False}, False, id="no selector"),
        pytest.param({}, True, id="an empty selector"),
        pytest.param({"driver": DEVICE.driver, "device": DEVICE.device}, True, id="fields that it has"),
        pytest.param({"driver": DEVICE.driver, "pool": "node-b"}, False, id="another pool"),
        pytest.param({"device": "gpu-1"}, False, id="another device"),
        pytest.param({"driver": ""}, False, id="an empty name is that of no driver"),
    ],
)
def test_rule_taints_devices_with_all_fields_of_its_selector(selector: dict[str, Any], is_selected: bool) -> None:
    assert len(TaintRules([rule("k", **selector)]).on(DEVICE)) == is_selected


def test_taints_come_in_the_order_of_their_rules() -> None:
    rules = [rule("a", pool="node-a"), rule("b", device="gpu-1"), rule("c"), rule("d", pool="node-a")]

    assert [taint.key for taint in TaintRules(rules).on(DEVICE)] == ["a", "c", "d"]


def test_rule_for_each_device_costs_no_more_a_device_where_there_are_more() -> None:
    def work(number: int) -> int:
        devices = [DEVICE._replace(pool=f"node-{place}") for place in range(number)]
        rules = [rule("k", pool=each.pool, device=each.device) for each in devices]
        return num_calls(lambda: [*map(TaintRules(rules).on, devices)])

    assert work(400) < 3 * work(200)


def test_slices_of_an_older_generation_say_nothing_of_their_pool() -> None:
    taint = DeviceTaint("broken", "", "NoSchedule")
    devices = SliceDevice("gpu-0", taints=(taint,)), SliceDevice("gpu-1")
    old = ResourceSlice("s", "gpu.example.com", "a", 1, 1, NodeReach("a"), devices=devices)
    new = replace(old, generation=2, devices=(SliceDevice("gpu-0"),))
    others = replace(old, pool="b"), replace(old, driver="nic.example.com")

    assert listed_taints([old, new, *others]) == {
        DeviceId("gpu.example.com", "a", "gpu-0"): (),
        DeviceId("gpu.example.com", "b", "gpu-0"): (taint,),
        DeviceId("gpu.example.com", "b", "gpu-1"): (),
        DeviceId("nic.example.com", "a", "gpu-0"): (taint,),
        DeviceId("nic.example.com", "a", "gpu-1"): (),
    }

"""Devices as drivers publish them, classes of devices, and taints on devices."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from descheduler.cluster.decoding.resource_slices import (
    decode_device_class,
    decode_device_taint_rule,
    decode_resource_slice,
)
from descheduler.model.resource_claims import (
    Attribute,
    CapacityPolicy,
    CounterSet,
    DeviceCapacity,
    DeviceClass,
    DeviceTaint,
    DeviceTaintRule,
    NodeReach,
    ResourceSlice,
    SliceDevice,
    VersionAttribute,
)
from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.labels import Requirement
from tests.builders import Object

UNIT = 10**9
CREATED = datetime(2026, 1, 2, tzinfo=UTC)
IN_ZONE = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}
ZONE = (NodeSelectorTerm((Requirement("zone", "In", frozenset({"a"})),)),)
METADATA = {"name": "x", "creationTimestamp": "2026-01-02T00:00:00Z"}


def block(**spec: object) -> bytes:
    return json.dumps({"metadata": METADATA, "spec": spec}).encode()


def device(**fields: object) -> SliceDevice:
    return decode_resource_slice(block(devices=[fields])).devices[0]


def test_slice_that_says_little_is_of_nobody_and_reaches_no_node() -> None:
    assert decode_resource_slice(b"{}") == ResourceSlice("", "", "", 0, 0, NodeReach())
    assert device() == SliceDevice("")


def test_slice_says_whose_devices_it_holds_and_where() -> None:
    found = decode_resource_slice(
        block(
            driver="d",
            pool={"name": "p", "generation": 2, "resourceSliceCount": 3},
            nodeName="n",
            nodeSelector=IN_ZONE,
            allNodes=True,
            perDeviceNodeSelection=True,
            devices=[{"name": "a"}, {"name": "b"}],
            sharedCounters=[{"name": "c", "counters": {"m": {"value": "2"}, "none": None, "zero": {}}}, {}],
        )
    )

    assert found == ResourceSlice(
        "x",
        "d",
        "p",
        2,
        3,
        NodeReach("n", ZONE, is_everywhere=True),
        is_per_device=True,
        devices=(SliceDevice("a"), SliceDevice("b")),
        shared_counters=(CounterSet("c", {"m": 2 * UNIT, "zero": 0}), CounterSet("", {})),
    )


@pytest.mark.parametrize("is_beta", [False, True], ids=["v1", "v1beta1, which has it under basic"])
def test_device_says_what_it_is_and_what_it_takes(*, is_beta: bool) -> None:
    body: Object = {
        "attributes": {"a": {"string": "s"}, "none": None},
        "capacity": {"m": {"value": "1Ki"}, "none": None},
        "consumesCounters": [{"counterSet": "c", "counters": {"m": {"value": 1}}}, {}],
        "nodeName": "n",
        "taints": [{"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": "2026-01-02T00:00:00Z"}, {}],
        "bindsToNode": True,
        "bindingConditions": ["b"],
        "bindingFailureConditions": ["f"],
        "allowMultipleAllocations": True,
    }

    assert device(name="d", **({"basic": body} if is_beta else body)) == SliceDevice(
        "d",
        attributes={"a": "s"},
        capacity={"m": DeviceCapacity(1024 * UNIT, "1Ki")},
        consumes=(CounterSet("c", {"m": UNIT}), CounterSet("", {})),
        allows_multiple=True,
        taints=(DeviceTaint("k", "v", "NoExecute", CREATED), DeviceTaint("", "", "")),
        binds_to_node=True,
        binding_conditions=("b",),
        binding_failures=("f",),
        reach=NodeReach("n"),
    )


@pytest.mark.parametrize(
    ("wire", "value"),
    [
        ({"int": 0}, 0),
        ({"bool": False}, False),
        ({"string": ""}, ""),
        ({"version": "1.2.3"}, VersionAttribute("1.2.3")),
        ({}, ""),
    ],
)
def test_attribute_has_the_value_of_its_type(wire: Object, value: Attribute) -> None:
    found = device(attributes={"a": wire}).attributes["a"]

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("policy", "value"),
    [
        ({}, CapacityPolicy()),
        ({"default": "1", "validValues": ["1", 2]}, CapacityPolicy(UNIT, (UNIT, 2 * UNIT))),
        (
            {"validRange": {"min": "1", "max": "3", "step": "2"}},
            CapacityPolicy(range_min=UNIT, range_max=3 * UNIT, range_step=2 * UNIT),
        ),
    ],
)
def test_capacity_says_how_much_one_allocation_takes(policy: Object, value: CapacityPolicy) -> None:
    found = device(capacity={"m": {"value": "80Gi", "requestPolicy": policy}}).capacity["m"]

    assert found == DeviceCapacity(80 * 2**30 * UNIT, "80Gi", value)


def test_class_selects_devices_by_expressions() -> None:
    selectors = [{"cel": {"expression": "e"}}, {"cel": {}}, {}]

    assert decode_device_class(block(selectors=selectors, extendedResourceName="r")) == DeviceClass(
        "x", ("e", "", ""), "r", CREATED
    )
    assert decode_device_class(b"{}") == DeviceClass("")


def test_rule_taints_the_devices_that_it_selects() -> None:
    taint = {"key": "k", "value": "v", "effect": "NoSchedule", "timeAdded": "2026-01-02T00:00:00Z"}
    selector = {"driver": "d", "pool": "p", "device": "e"}

    assert decode_device_taint_rule(block(taint=taint, deviceSelector=selector)) == DeviceTaintRule(
        "x", DeviceTaint("k", "v", "NoSchedule", CREATED), True, "d", "p", "e"
    )
    assert decode_device_taint_rule(block(deviceSelector={})) == DeviceTaintRule("x", DeviceTaint("", "", ""), True)
    assert decode_device_taint_rule(b"{}") == DeviceTaintRule("", DeviceTaint("", "", ""))

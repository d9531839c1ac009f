"""Devices of Koordinator as the API gives them."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import asdict

from descheduler.cluster.decoding.koordinator.devices import (
    decode_allocated,
    decode_device,
    decode_hints,
    decode_joint_allocation,
    decode_partition_spec,
)
from descheduler.model.koordinator.devices import (
    AllocatedDevice,
    Device,
    DeviceHint,
    DeviceInfo,
    DeviceTopology,
    GpuPartition,
    JointAllocation,
    PartitionSpec,
    PartitionTable,
    VirtualFunction,
    VirtualFunctionGroup,
)
from descheduler.model.selection.labels import LabelError, LabelSelector, Requirement
from tests.builders import Object

SELECTED = LabelSelector((Requirement("a", "In", frozenset({"b"})),))


@pytest.mark.parametrize(
    ("text", "table"),
    [
        pytest.param(
            '{"2": [{"minors": [0, 1], "allocationScore": 3}]}', {2: (GpuPartition((0, 1), 3, None),)}, id="with minors"
        ),
        pytest.param('{"1": [{}], "2": null}', {1: (GpuPartition((), 0, None),), 2: ()}, id="without anything"),
        pytest.param(
            '{"1": [{"ringBusBandwidth": "5"}]}', {1: (GpuPartition((), 0, 5 * 10**9),)}, id="with a bandwidth"
        ),
        pytest.param("[", None, id="that is no JSON"),
        pytest.param('{"a": []}', None, id="by a size that is no number"),
        pytest.param("", None, id="that is empty"),
    ],
)
def test_partitions_of_gpus_are_read_by_their_size(text: str, table: PartitionTable | None) -> None:
    annotations = {"scheduling.koordinator.sh/gpu-partitions": text}

    device = decode_device(json.dumps({"metadata": {"name": "a", "annotations": annotations}, "spec": {}}).encode())

    assert device.partitions == table


@pytest.mark.parametrize(("policy", "is_honored"), [("Honor", True), ("Prefer", False)])
def test_partitions_bind_only_where_the_node_says_so(policy: str, is_honored: bool) -> None:
    labels = {"node.koordinator.sh/gpu-partition-policy": policy}

    device = decode_device(json.dumps({"metadata": {"name": "a", "labels": labels}, "spec": {}}).encode())

    assert device.honors_partitions is is_honored


def test_all_that_a_device_says_is_read() -> None:
    devices = [
        {
            "type": "gpu",
            "id": "g",
            "minor": 3,
            "health": True,
            "labels": {"a": "b"},
            "resources": {"x": "1500m"},
            "topology": {"nodeID": 1, "pcieID": "p"},
            "vfGroups": [{"labels": {"c": "d"}, "vfs": [{"minor": 2, "busID": "0:1"}, {}]}, {}],
        },
        {},
        {"topology": {}},
    ]
    labels = {"node.koordinator.sh/secondary-device-well-planned": "true"}
    wire = {"metadata": {"name": "n", "labels": labels}, "spec": {"devices": devices}}

    found = decode_device(json.dumps(wire).encode())

    groups = (
        VirtualFunctionGroup({"c": "d"}, (VirtualFunction("0:1", 2), VirtualFunction("", 0))),
        VirtualFunctionGroup({}, ()),
    )
    assert found.has_planned_secondaries
    assert found.devices == (
        DeviceInfo("gpu", 3, "g", True, {"a": "b"}, {"x": 2}, DeviceTopology(1, "p"), groups),
        DeviceInfo("", 0, "", False, {}, {}),
        DeviceInfo("", 0, "", False, {}, {}, DeviceTopology(0, "")),
    )
    assert asdict(decode_device(b"{}")) == asdict(Device("", ()))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", {}),
        ('{"gpu": null, "rdma": []}', {}),
        ('{"gpu": [{}]}', {"gpu": (AllocatedDevice(0, {}),)}),
        (
            '{"rdma": [{"minor": 1, "id": "i", "resources": {"koordinator.sh/rdma": "1"}, '
            '"extension": {"vfs": [{"busID": "0:1", "minor": 2}], "gpuSharedResourceTemplate": "t"}}]}',
            {"rdma": (AllocatedDevice(1, {"koordinator.sh/rdma": 1}, "i", (VirtualFunction("0:1", 2),), "t"),)},
        ),
    ],
)
def test_devices_that_a_pod_has_are_read(text: str, value: Object) -> None:
    assert decode_allocated(text) == value


@pytest.mark.parametrize(
    ("wire", "value"),
    [
        pytest.param(None, {}, id="null"),
        pytest.param({"gpu": None}, {}, id="a type that is null"),
        pytest.param({"gpu": {}}, {"gpu": DeviceHint()}, id="nothing"),
        pytest.param(
            {
                "gpu": {
                    "selector": {"matchLabels": {"a": "b"}},
                    "vfSelector": {},
                    "allocateStrategy": "ApplyForAll",
                    "requiredTopologyScope": "Node",
                    "exclusivePolicy": "x",
                }
            },
            {"gpu": DeviceHint(SELECTED, LabelSelector(()), "ApplyForAll", "Node", "x")},
            id="everything",
        ),
    ],
)
def test_hints_are_read_by_the_type_of_devices(wire: Object | None, value: Object) -> None:
    assert decode_hints(json.dumps(wire)) == value


@pytest.mark.parametrize(("field", "name"), [("selector", "Selector"), ("vfSelector", "VFSelector")])
def test_selector_of_a_hint_that_is_invalid_is_named(field: str, name: str) -> None:
    bad = {"matchExpressions": [{"key": "a", "operator": "Odd"}]}

    with pytest.raises(LabelError, match=f"^invalid {name} of DeviceHint, deviceType: gpu, err: "):
        decode_hints(json.dumps({"gpu": {field: bad}}))


def test_joint_allocation_and_partition_are_read() -> None:
    joint = '{"deviceTypes": ["gpu", "rdma"], "requiredScope": "SamePCIe"}'

    assert decode_joint_allocation(joint) == JointAllocation(("gpu", "rdma"), True)
    assert decode_joint_allocation('{"requiredScope": "x"}') == JointAllocation((), False)
    assert decode_joint_allocation("null") == JointAllocation((), False)
    assert decode_partition_spec('{"allocatePolicy": "Restricted", "ringBusBandwidth": 2}') == PartitionSpec(
        True, 2 * 10**9
    )
    assert decode_partition_spec('{"allocatePolicy": "BestEffort"}') == PartitionSpec(False, None)
    assert decode_partition_spec("null") == PartitionSpec(False, None)

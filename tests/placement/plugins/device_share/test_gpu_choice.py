"""Which GPUs a pod gets together, by partition and by topology: section 6.8 of Koordinator's reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.builders import Object, node_object
from tests.placement.plugins.device_share.worlds import (
    CORE,
    RATIO,
    decoded,
    device_object,
    devices_got,
    gpu,
    gpu_pod,
    reason_on,
    scheduler_over,
)

HALF = {CORE: "50", RATIO: "50"}
WITHIN = {"gpu": {"requiredTopologyScope": "Node"}}
_MOST = {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": RATIO, "weight": 1}]}}
_HONOR = {"node.koordinator.sh/gpu-partition-policy": "Honor"}
_SCOPED = "Insufficient Topology Scoped GPU Devices"


def whole(number: int, name: str = "new", **facts: Any) -> Object:
    """A pod that asks for so many whole GPUs."""
    return gpu_pod(name, {"nvidia.com/gpu": str(number)}, **facts)


def runs(*minors: int, share: str = "100") -> Object:
    """A pod on node a that has these GPUs."""
    has = {"gpu": [{"minor": minor, "resources": {CORE: share, RATIO: share}} for minor in minors]}
    return gpu_pod("runs", HALF, node="a", has=has)


def two_per_switch(number: int, *, a_numa_node: int = 4) -> list[Object]:
    """GPUs of which two are plugged into each PCIe switch."""
    return [gpu(minor, place=(minor // a_numa_node, str(minor // 2))) for minor in range(number)]


@pytest.mark.parametrize(
    ("in_use", "number", "minors"),
    [
        pytest.param([], 1, [0], id="the first of equals"),
        pytest.param([0, 2], 2, [4, 5], id="one switch is nearer than two of a NUMA node"),
        pytest.param([6], 1, [7], id="a switch that is in use"),
        pytest.param([6], 2, [4, 5], id="a NUMA node that is in use"),
        pytest.param([4, 5], 2, [6, 7], id="a NUMA node with a whole switch in use"),
        pytest.param([0, 4, 5], 1, [1], id="a switch in use before an idle one"),
        pytest.param([0], 3, [1, 2, 3], id="exactly what a NUMA node has left"),
        pytest.param([0, 1, 4], 3, [5, 6, 7], id="the NUMA node that has as many"),
        pytest.param([0, 4], 5, [1, 2, 3, 5, 6], id="the whole node"),
    ],
)
def test_gpus_come_from_the_narrowest_scope_and_then_from_the_one_in_use(
    in_use: Sequence[int], number: int, minors: list[int]
) -> None:
    scheduler = scheduler_over(device_object("a", *two_per_switch(8)), *([runs(*in_use)] if in_use else []))

    assert devices_got(scheduler, whole(number)) == [{"gpu": minors}]


def test_more_gpus_than_the_node_has_free_are_refused() -> None:
    scheduler = scheduler_over(device_object("a", *two_per_switch(4)), runs(0))

    assert reason_on(scheduler, whole(4)) == "Insufficient GPU Devices"
    assert reason_on(scheduler, whole(4, hint=WITHIN)) == _SCOPED
    assert reason_on(scheduler, whole(3, hint=WITHIN)) == ""


@pytest.mark.parametrize(
    ("scope", "number", "reason"),
    [
        pytest.param("PCIe", 2, "", id="as many as a switch has"),
        pytest.param("PCIe", 3, _SCOPED, id="one more than a switch has"),
        pytest.param("NUMANode", 4, "", id="as many as a NUMA node has"),
        pytest.param("NUMANode", 5, _SCOPED, id="one more than a NUMA node has"),
        pytest.param("Node", 8, "", id="all of the node"),
        pytest.param("Device", 1, _SCOPED, id="a scope that no GPU is one of"),
        pytest.param("Rack", 5, "", id="a scope that is not known requires nothing"),
    ],
)
def test_required_scope_has_to_have_as_many(scope: str, number: int, reason: str) -> None:
    scheduler = scheduler_over(device_object("a", *two_per_switch(8)))

    assert reason_on(scheduler, whole(number, hint={"gpu": {"requiredTopologyScope": scope}})) == reason


def test_one_gpu_without_a_place_leaves_the_node_without_topology() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0, place=(0, "0")), gpu(1)))

    assert reason_on(scheduler, whole(1, hint=WITHIN)) == "node(s) missing GPU Device Topology Tree"
    assert devices_got(scheduler, whole(2)) == [{"gpu": [0, 1]}]


@pytest.mark.parametrize(
    ("requests", "reason"),
    [
        pytest.param(HALF, "", id="a part of one GPU"),
        pytest.param({"koordinator.sh/gpu.shared": "1", **HALF}, "", id="one share"),
        pytest.param({"koordinator.sh/gpu.shared": "2", **HALF}, "node(s) Unsupported Multi-Shared GPU", id="two"),
    ],
)
def test_parts_of_several_gpus_are_not_found_within_a_scope(requests: dict[str, str], reason: str) -> None:
    scheduler = scheduler_over(device_object("a", *two_per_switch(4)))

    assert reason_on(scheduler, gpu_pod("new", requests, hint=WITHIN)) == reason


def test_parts_of_several_gpus_are_taken_anywhere_without_a_scope() -> None:
    scheduler = scheduler_over(device_object("a", *two_per_switch(4)))

    assert devices_got(scheduler, gpu_pod("new", {"koordinator.sh/gpu.shared": "2", **HALF})) == [{"gpu": [0, 1]}]


@pytest.mark.parametrize(
    ("args", "minors"),
    [
        pytest.param(None, [1], id="LeastAllocated takes the idle one"),
        pytest.param(_MOST, [0], id="MostAllocated takes the one in use"),
    ],
)
def test_part_of_a_gpu_is_taken_by_score_within_a_switch(args: object, minors: list[int]) -> None:
    devices = device_object("a", *two_per_switch(2))
    scheduler = scheduler_over(devices, runs(0, share="30"), args=args)  # type: ignore[arg-type]

    assert devices_got(scheduler, gpu_pod("new", HALF)) == [{"gpu": minors}]


def test_unhealthy_gpu_is_in_no_scope() -> None:
    devices = device_object("a", gpu(0, place=(0, "0"), healthy=False), gpu(1, place=(0, "0")))

    assert devices_got(scheduler_over(devices), whole(1)) == [{"gpu": [1]}]


def partitions(*groups: Sequence[int], **facts: object) -> Object:
    """A table with these partitions, all of one score."""
    table: dict[str, list[Object]] = {}
    for minors in groups:
        table.setdefault(str(len(minors)), []).append({"minors": list(minors), "allocationScore": 1, **facts})
    return table


@pytest.mark.parametrize(
    ("table", "in_use", "number", "minors"),
    [
        pytest.param(partitions([2], [0], [0, 1]), [], 1, [2], id="beside the pair that stays whole"),
        pytest.param(partitions([0], [2], [0, 1], [2, 3]), [1], 1, [0], id="next to a GPU in use"),
        pytest.param(partitions([0, 1], [2, 3], [2, 3, 4, 5]), [], 2, [0, 1], id="beside the four that stay whole"),
        pytest.param(
            partitions([0, 1], [8, 9], range(8), [2, 3, 4, 5], [8, 9, 10, 11]),
            [],
            2,
            [8, 9],
            id="eight outweigh one four",
        ),
        pytest.param(
            partitions([0, 1, 2, 3], [2, 3, 4, 5], [0, 1], [4, 5], [6, 7]),
            [],
            4,
            [0, 1, 2, 3],
            id="smaller partitions do not count",
        ),
        pytest.param(partitions([1, 2], [0, 1], [2, 3]), [], 2, [0, 1], id="beside another pair"),
        pytest.param(partitions([0, 1], [1, 2]), [0], 2, [1, 2], id="none that touches a GPU in use"),
        pytest.param(partitions([0, 12], [1, 2]), [], 2, [1, 2], id="none with a GPU that is missing"),
    ],
)
def test_partition_is_the_one_that_leaves_the_most_large_ones_free(
    table: Object, in_use: Sequence[int], number: int, minors: list[int]
) -> None:
    devices = device_object("a", *(gpu(minor) for minor in range(12)), labels=_HONOR, partitions=table)
    scheduler = scheduler_over(devices, *([runs(*in_use)] if in_use else []))

    assert devices_got(scheduler, whole(number)) == [{"gpu": minors}]


def test_partition_with_an_unhealthy_gpu_is_not_given_out() -> None:
    gpus = (gpu(minor, healthy=minor != 0) for minor in range(3))
    scheduler = scheduler_over(device_object("a", *gpus, labels=_HONOR, partitions=partitions([0, 1], [1, 2])))

    assert devices_got(scheduler, whole(2)) == [{"gpu": [1, 2]}]


@pytest.mark.parametrize(
    ("stated", "minors"),
    [
        pytest.param({"ringBusBandwidth": "299Gi"}, None, id="slower than required"),
        pytest.param({"ringBusBandwidth": "300Gi"}, [0], id="just as fast as required"),
        pytest.param({}, None, id="of unknown speed"),
    ],
)
def test_partition_has_to_be_as_fast_as_the_pod_requires(stated: Object, minors: list[int] | None) -> None:
    devices = device_object("a", gpu(0), partitions=partitions([0], **stated))
    pod = whole(1, partition={"ringBusBandwidth": "300Gi"})

    reason = reason_on(scheduler_over(devices), pod)

    assert reason == ("" if minors else "Insufficient Partitioned GPU Devices")


@pytest.mark.parametrize(
    ("labels", "facts", "minors"),
    [
        pytest.param({}, {}, [1], id="other GPUs do where the table is preferred"),
        pytest.param(_HONOR, {}, None, id="no other GPUs where the node honours its table"),
        pytest.param({}, {"partition": {}}, None, id="no other GPUs where the pod asks for a partition"),
    ],
)
def test_table_is_kept_to_where_node_or_pod_ask_for_it(
    labels: dict[str, str], facts: Object, minors: list[int] | None
) -> None:
    table = partitions([0])
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1), labels=labels, partitions=table), runs(0))

    reason = reason_on(scheduler, whole(1, **facts))

    assert reason == ("" if minors else "Insufficient Partitioned GPU Devices")


def test_pod_that_asks_for_a_partition_needs_a_table() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0)))

    assert reason_on(scheduler, whole(1, partition={})) == "node(s) missing GPU Partition Table"


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        pytest.param({**_HONOR, "node.koordinator.sh/gpu-model": "H800"}, "node(s) Unsupported number", id="honoured"),
        pytest.param({"node.koordinator.sh/gpu-model": "H800"}, "", id="preferred"),
        pytest.param({"node.koordinator.sh/gpu-model": "T4"}, "", id="of another model"),
    ],
)
def test_table_of_hopper_models_is_honoured_by_the_label_of_the_node(labels: dict[str, str], reason: str) -> None:
    nodes = [node_object("a", labels=labels)]
    scheduler = scheduler_over(device_object("a", *(gpu(minor) for minor in range(8))), nodes=nodes)

    found = reason_on(scheduler, whole(3))

    assert found.startswith(reason)
    assert bool(found) is bool(reason)


def test_obstacle_that_evictions_may_help_against_is_told_from_one_for_good() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0), partitions=partitions([0])), runs(0))
    codes = [
        scheduler.evaluate(decoded(whole(number, partition={}))).first_obstacle_on(0).code.name for number in (1, 2)
    ]

    assert codes == ["UNSCHEDULABLE", "UNRESOLVABLE"]

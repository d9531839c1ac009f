"""Which devices pods get: section 6.8 of the reference of Koordinator's behaviour."""

from __future__ import annotations

import pytest

from descheduler.placement.framework.matched_reservations import allocations_of
from tests.builders import Object, node_object
from tests.placement.plugins.device_share.worlds import (
    CORE,
    MEMORY,
    RATIO,
    decoded,
    device,
    device_object,
    devices_got,
    gpu,
    gpu_pod,
    rdma,
    reason_on,
    scheduler_over,
)

HALF = {CORE: "50", RATIO: "50"}
_NO_PARTITION = "Insufficient Partitioned GPU Devices"
_MOST = {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": RATIO, "weight": 1}]}}


def whole(number: int) -> dict[str, str]:
    """Requests for so many whole GPUs."""
    return {"nvidia.com/gpu": str(number)}


def eight_gpus(**facts: object) -> list[Object]:
    """Two NUMA nodes with two PCIe switches each, two GPUs a switch."""
    return [gpu(minor, place=(minor // 4, str(minor // 2)), **facts) for minor in range(8)]  # type: ignore[arg-type]


def test_part_of_a_gpu_takes_an_idle_one_by_default_and_a_used_one_to_pack() -> None:
    devices = device_object("a", gpu(0), gpu(1))

    spread = devices_got(scheduler_over(devices), gpu_pod("first", HALF), gpu_pod("second", HALF))
    packed = devices_got(scheduler_over(devices, args=_MOST), gpu_pod("first", HALF), gpu_pod("second", HALF))

    assert (spread, packed) == ([{"gpu": [0]}, {"gpu": [1]}], [{"gpu": [0]}, {"gpu": [0]}])


def test_parts_that_only_the_sum_of_the_node_has_do_not_fit() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1)))
    devices_got(scheduler, gpu_pod("first", {CORE: "60", RATIO: "60"}), gpu_pod("second", {CORE: "60", RATIO: "60"}))

    assert reason_on(scheduler, gpu_pod("third", {CORE: "60", RATIO: "60"})) == "Insufficient gpu devices"


def test_memory_is_filled_in_from_the_card() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0, memory="80Gi"), gpu(1, memory="24Gi")))
    evaluations = [
        scheduler.evaluate(decoded(gpu_pod(name, {CORE: "50", RATIO: "50"}))) for name in ("first", "second")
    ]

    got = [allocations_of(scheduler.place(evaluation, 0))[0].resources[MEMORY] for evaluation in evaluations]

    assert got == [40 * 2**30, 12 * 2**30]


def test_percent_is_filled_in_from_bytes_and_rounded_down() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0, memory="80Gi")))
    evaluation = scheduler.evaluate(decoded(gpu_pod("new", {MEMORY: "15Gi"})))

    (allocation,) = allocations_of(scheduler.place(evaluation, 0))

    assert allocation.resources == {MEMORY: 15 * 2**30, RATIO: 18}


def test_bytes_for_200_core_never_fit() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1)))

    assert reason_on(scheduler, gpu_pod("new", {CORE: "200", MEMORY: "16Gi"})) == "Insufficient gpu devices"


def test_unhealthy_device_is_never_taken() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0, healthy=False), gpu(1)))

    assert devices_got(scheduler, gpu_pod("new", whole(1))) == [{"gpu": [1]}]
    assert reason_on(scheduler, gpu_pod("other", whole(1))) == "Insufficient gpu devices"


def test_gpus_come_from_the_deepest_scope_that_has_enough_and_the_fullest_of_equals() -> None:
    scheduler = scheduler_over(device_object("a", *eight_gpus()))
    pods = [gpu_pod(f"p{number}", whole(count)) for number, count in enumerate((1, 2, 1, 4))]

    assert devices_got(scheduler, *pods) == [{"gpu": [0]}, {"gpu": [2, 3]}, {"gpu": [1]}, {"gpu": [4, 5, 6, 7]}]


def test_required_scope_refuses_what_only_a_wider_one_has() -> None:
    scheduler = scheduler_over(device_object("a", *eight_gpus()))
    within = {scope: {"gpu": {"requiredTopologyScope": scope}} for scope in ("PCIe", "NUMANode", "Node", "Device")}

    reasons = {scope: reason_on(scheduler, gpu_pod("new", whole(4), hint=hint)) for scope, hint in within.items()}

    scoped = "Insufficient Topology Scoped GPU Devices"
    assert reasons == {"PCIe": scoped, "NUMANode": "", "Node": "", "Device": scoped}


def test_required_scope_needs_to_know_where_the_gpus_are() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1)))
    pod = gpu_pod("new", whole(1), hint={"gpu": {"requiredTopologyScope": "Node"}})

    assert reason_on(scheduler, pod) == "node(s) missing GPU Device Topology Tree"


def test_partition_is_taken_that_leaves_the_largest_ones_whole() -> None:
    hopper = node_object("a", labels={"node.koordinator.sh/gpu-model": "H100"})
    scheduler = scheduler_over(device_object("a", *(gpu(minor) for minor in range(8))), nodes=[hopper])
    pods = [gpu_pod(f"p{number}", whole(count)) for number, count in enumerate((2, 1, 1, 4))]

    assert devices_got(scheduler, *pods) == [{"gpu": [0, 1]}, {"gpu": [2]}, {"gpu": [3]}, {"gpu": [4, 5, 6, 7]}]


def test_partitions_of_the_lowest_score_come_first() -> None:
    table = {"1": [{"minors": [0], "allocationScore": 9}, {"minors": [1], "allocationScore": 1}]}
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1), partitions=table))

    assert devices_got(scheduler, gpu_pod("new", whole(1))) == [{"gpu": [1]}]


@pytest.mark.parametrize(
    ("partition", "reason"),
    [
        pytest.param(None, "", id="a table is preferred"),
        pytest.param({}, "", id="a later group will do"),
        pytest.param({"allocatePolicy": "Restricted"}, _NO_PARTITION, id="first group alone"),
        pytest.param({"ringBusBandwidth": "300Gi"}, _NO_PARTITION, id="too slow"),
    ],
)
def test_partition_spec_honours_the_table(partition: object, reason: str) -> None:
    table = {"1": [{"minors": [0], "allocationScore": 1}, {"minors": [1], "allocationScore": 2}]}
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1), partitions=table))
    devices_got(scheduler, gpu_pod("first", whole(1)))
    facts: Object = {} if partition is None else {"partition": partition}

    assert reason_on(scheduler, gpu_pod("new", whole(1), **facts)) == reason


def test_node_that_honours_its_table_gives_out_no_other_number() -> None:
    labels = {"node.koordinator.sh/gpu-partition-policy": "Honor"}
    table = {"2": [{"minors": [0, 1]}]}
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1), labels=labels, partitions=table))

    assert reason_on(scheduler, gpu_pod("new", whole(1))) == "node(s) Unsupported number of GPU requests"
    assert reason_on(scheduler, gpu_pod("new", HALF)) == ""


def test_joint_devices_share_the_pcie_switch_of_the_leading_one() -> None:
    devices = [*eight_gpus(), *(rdma(minor, place=(minor // 2, str(minor))) for minor in range(4))]
    scheduler = scheduler_over(device_object("a", *devices))
    joint = {"deviceTypes": ["gpu", "rdma"], "requiredScope": "SamePCIe"}
    requests = {"nvidia.com/gpu": "2", "koordinator.sh/rdma": "1"}

    got = devices_got(scheduler, gpu_pod("first", requests, joint=joint), gpu_pod("second", requests, joint=joint))

    assert got == [{"gpu": [0, 1], "rdma": [0]}, {"gpu": [2, 3], "rdma": [1]}]


def test_joint_devices_on_another_switch_violate_the_required_scope() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0, place=(0, "0")), rdma(0, place=(0, "1"))))
    requests = {"nvidia.com/gpu": "1", "koordinator.sh/rdma": "1"}
    joint = {"deviceTypes": ["gpu", "rdma"]}

    strict = reason_on(scheduler, gpu_pod("new", requests, joint={**joint, "requiredScope": "SamePCIe"}))

    assert strict == "node(s) Device Joint-Allocate rules violation"
    assert devices_got(scheduler, gpu_pod("new", requests, joint=joint)) == [{"gpu": [0], "rdma": [0]}]


def test_secondary_devices_that_are_well_planned_are_left_to_reserve() -> None:
    labels = {"node.koordinator.sh/secondary-device-well-planned": "true"}
    scheduler = scheduler_over(device_object("a", gpu(0), labels=labels))
    pod = gpu_pod("new", {"nvidia.com/gpu": "1", "koordinator.sh/rdma": "1"}, joint={"deviceTypes": ["gpu", "rdma"]})
    evaluation = scheduler.evaluate(decoded(pod))

    placed = scheduler.place(evaluation, 0)

    assert evaluation.fits
    assert evaluation.cycle.notes == ["DeviceShare must find devices on node a (no rdma devices)"]
    assert allocations_of(placed) == ()


def test_virtual_function_with_the_lowest_bus_id_is_taken_once() -> None:
    scheduler = scheduler_over(device_object("a", rdma(0, functions=["0000:01.2", "0000:01.1"])))
    pods = [
        gpu_pod(f"p{number}", {"koordinator.sh/rdma": "1"}, hint={"rdma": {"vfSelector": {}}}) for number in range(3)
    ]
    taken = [scheduler.place(scheduler.evaluate(decoded(pod)), 0).takings[0][1] for pod in pods[:2]]

    functions = [each.devices["rdma"][0].functions[0].bus_id for each in taken]  # type: ignore[attr-defined]

    assert functions == ["0000:01.1", "0000:01.2"]
    assert reason_on(scheduler, pods[2]) == "Insufficient rdma devices"


def test_node_without_virtual_functions_is_closed_for_good() -> None:
    scheduler = scheduler_over(device_object("a", rdma(0)))
    pod = gpu_pod("new", {"koordinator.sh/rdma": "1"}, hint={"rdma": {"vfSelector": {}}})

    assert reason_on(scheduler, pod) == "Insufficient rdma VirtualFunctions"


@pytest.mark.parametrize(
    ("hint", "amount", "minors"),
    [
        pytest.param({}, "200", [0, 1], id="multiples of 100 are so many devices"),
        pytest.param({"allocateStrategy": "ApplyForAll"}, "5", [0, 1, 2], id="all of them"),
        pytest.param(
            {"allocateStrategy": "ApplyForAll", "selector": {"matchLabels": {"zone": "b"}}},
            "5",
            [1, 2],
            id="all that match",
        ),
        pytest.param({"allocateStrategy": "RequestsAsCount"}, "2", [0, 1], id="the amount is the number"),
        pytest.param({"selector": {"matchLabels": {"zone": "b"}}}, "5", [1], id="one that matches"),
    ],
)
def test_hints_say_which_network_devices_are_taken(hint: object, amount: str, minors: list[int]) -> None:
    devices = [rdma(0, labels={"zone": "a"}), rdma(1, labels={"zone": "b"}), rdma(2, labels={"zone": "b"})]
    scheduler = scheduler_over(device_object("a", *devices))

    got = devices_got(scheduler, gpu_pod("new", {"koordinator.sh/rdma": amount}, hint={"rdma": hint}))

    assert got == [{"rdma": minors}]


def test_devices_of_several_types_are_allocated_without_a_word_of_joint_allocation() -> None:
    fpga = device("fpga", 0, resources={"koordinator.sh/fpga": "100"})
    scheduler = scheduler_over(device_object("a", gpu(0), fpga))

    got = devices_got(scheduler, gpu_pod("new", {**HALF, "koordinator.sh/fpga": "30"}))

    assert got == [{"gpu": [0], "fpga": [0]}]


def test_template_is_taken_that_is_exactly_what_is_asked_for() -> None:
    npu = {"huawei.com/npu-core": "20", "huawei.com/npu-cpu": "7", MEMORY: "32Gi", RATIO: "100"}
    templates = {"huawei-910B": {"vir05": {"huawei.com/npu-core": "5", "huawei.com/npu-cpu": "1", MEMORY: "8Gi"}}}
    labels = {"node.koordinator.sh/gpu-vendor": "huawei", "node.koordinator.sh/gpu-model": "910B"}
    nodes = [node_object("a", labels=labels), node_object("b")]
    devices = [device_object(name, device("gpu", 0, resources=npu)) for name in ("a", "b")]
    scheduler = scheduler_over(*devices, nodes=nodes, args={"gpuSharedResourceTemplates": templates})
    pod = gpu_pod("new", {"koordinator.sh/gpu.shared": "1", **templates["huawei-910B"]["vir05"]})

    placed = scheduler.place(scheduler.evaluate(decoded(pod)), 0)

    assert placed.takings[0][1].devices["gpu"][0].template == "vir05"  # type: ignore[attr-defined]
    assert reason_on(scheduler, pod, node="b") == "no matched GPU shared resource template"


def test_templates_that_are_not_known_leave_the_pod_undecided() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0)))
    requests = {"koordinator.sh/gpu.shared": "1", "huawei.com/npu-core": "5", "huawei.com/npu-cpu": "1", MEMORY: "8Gi"}

    evaluation = scheduler.evaluate(decoded(gpu_pod("new", requests)))

    assert evaluation.cause == "unknown GPU shared resource templates (DeviceShare)"


@pytest.mark.parametrize(
    ("hint", "amount", "expected"),
    [
        pytest.param({}, "100", [0], id="a whole one"),
        pytest.param({"allocateStrategy": "ApplyForAll"}, "100", [0, 1, 2], id="all of them whole"),
        pytest.param(
            {"allocateStrategy": "ApplyForAll"}, "200", [0, 1], id="200 are two whole ones, whatever the hint"
        ),
        pytest.param({"allocateStrategy": "RequestsAsCount"}, "3", [0, 1, 2], id="as many as there are"),
        pytest.param({"allocateStrategy": "RequestsAsCount"}, "4", "Insufficient rdma devices", id="one too many"),
        pytest.param(
            {"allocateStrategy": "ApplyForAll", "selector": {"matchLabels": {"zone": "c"}}},
            "5",
            "Insufficient rdma devices",
            id="all of none",
        ),
        pytest.param(
            {"selector": {"matchLabels": {"zone": "c"}}}, "5", "Insufficient rdma devices", id="none that matches"
        ),
    ],
)
def test_number_of_network_devices_is_what_amount_and_hint_come_to(
    hint: object, amount: str, expected: list[int] | str
) -> None:
    scheduler = scheduler_over(device_object("a", *(rdma(minor) for minor in range(3))))
    pod = gpu_pod("new", {"koordinator.sh/rdma": amount}, hint={"rdma": hint})

    reason = reason_on(scheduler, pod)

    assert (reason or devices_got(scheduler, pod)[0]["rdma"]) == expected


@pytest.mark.parametrize(
    ("policy", "left"),
    [pytest.param("DeviceLevel", "Insufficient rdma devices", id="exclusively"), pytest.param("", "", id="shared")],
)
def test_device_that_is_counted_is_taken_whole_where_it_is_to_be_exclusive(policy: str, left: str) -> None:
    scheduler = scheduler_over(device_object("a", rdma(0)))
    hint = {"rdma": {"allocateStrategy": "RequestsAsCount", "exclusivePolicy": policy}}
    devices_got(scheduler, gpu_pod("first", {"koordinator.sh/rdma": "1"}, hint=hint))

    assert reason_on(scheduler, gpu_pod("new", {"koordinator.sh/rdma": "99"})) == left


def test_virtual_functions_are_those_of_groups_that_match() -> None:
    scheduler = scheduler_over(device_object("a", rdma(0, functions=["0000:01.1"]), rdma(1)))
    pods = [
        gpu_pod("new", {"koordinator.sh/rdma": "1"}, hint={"rdma": {"vfSelector": {"matchLabels": {"type": kind}}}})
        for kind in ("fast", "slow")
    ]

    assert devices_got(scheduler, pods[0]) == [{"rdma": [0]}]
    assert reason_on(scheduler, pods[1]) == "Insufficient rdma devices"


def test_device_whose_functions_are_taken_is_passed_over_for_the_next() -> None:
    devices = device_object("a", rdma(0, functions=["0000:01.1"]), rdma(1, functions=["0000:02.1"]))
    pods = [gpu_pod(name, {"koordinator.sh/rdma": "1"}, hint={"rdma": {"vfSelector": {}}}) for name in ("p", "q", "r")]
    scheduler = scheduler_over(devices)

    assert devices_got(scheduler, *pods[:2]) == [{"rdma": [0]}, {"rdma": [1]}]
    assert reason_on(scheduler, pods[2]) == "Insufficient rdma devices"


_BOTH = {"nvidia.com/gpu": "1", "koordinator.sh/rdma": "1"}
_JOINT: Object = {"deviceTypes": ["gpu", "rdma"]}
_SAME: Object = {**_JOINT, "requiredScope": "SamePCIe"}


@pytest.mark.parametrize(
    ("joint", "rdma_minors"),
    [
        pytest.param(_JOINT, [1], id="next to the leading one"),
        pytest.param({"deviceTypes": ["rdma", "gpu"]}, [0], id="the first type leads"),
        pytest.param({"deviceTypes": ["gpu"]}, [0], id="a type that is not named is chosen by itself"),
        pytest.param({"deviceTypes": []}, [0], id="no type is named"),
    ],
)
def test_following_devices_are_those_near_to_the_leading_one(joint: Object, rdma_minors: list[int]) -> None:
    gpus = [gpu(0, place=(0, "p1"))]
    scheduler = scheduler_over(device_object("a", *gpus, rdma(0, place=(0, "p0")), rdma(1, place=(0, "p1"))))

    assert devices_got(scheduler, gpu_pod("new", _BOTH, joint=joint)) == [{"gpu": [0], "rdma": rdma_minors}]


@pytest.mark.parametrize(
    ("places", "joint", "expected"),
    [
        pytest.param("0123", _SAME, [0, 1], id="one for each switch of the leading ones"),
        pytest.param("0011", _SAME, [0, 2], id="the first of each switch before the second of any"),
        pytest.param("0011", _JOINT, [0, 2], id="as many as there are switches, where one would do"),
        pytest.param("0", _SAME, "Insufficient rdma devices", id="a switch without any"),
        pytest.param("0", _JOINT, [0], id="a switch without any, where that is not required"),
    ],
)
def test_following_devices_are_spread_over_the_switches_of_the_leading_ones(
    places: str, joint: Object, expected: list[int] | str
) -> None:
    gpus = [gpu(minor, place=(0, str(minor))) for minor in range(2)]
    scheduler = scheduler_over(device_object("a", *gpus, *(rdma(n, place=(0, at)) for n, at in enumerate(places))))
    pod = gpu_pod("new", {"nvidia.com/gpu": "2", "koordinator.sh/rdma": "1"}, joint=joint)

    reason = reason_on(scheduler, pod)

    assert (reason or devices_got(scheduler, pod)[0]["rdma"]) == expected


@pytest.mark.parametrize(
    ("requests", "reason"),
    [
        pytest.param(_BOTH, "", id="whole GPUs"),
        pytest.param({**HALF, "koordinator.sh/rdma": "1"}, "Insufficient rdma devices", id="parts of GPUs"),
        pytest.param({"koordinator.sh/rdma": "1"}, "Insufficient rdma devices", id="no GPUs"),
    ],
)
def test_secondary_devices_are_left_to_reserve_beside_whole_gpus_alone(requests: dict[str, str], reason: str) -> None:
    labels = {"node.koordinator.sh/secondary-device-well-planned": "true"}
    scheduler = scheduler_over(device_object("a", gpu(0), labels=labels))

    assert reason_on(scheduler, gpu_pod("new", requests, joint=_JOINT)) == reason

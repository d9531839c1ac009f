"""What planners, proofs and explanations are told about devices."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.framework.interactions import GatheredPods, Meetings
from descheduler.placement.framework.matched_reservations import (
    MatchedReservation,
    MatchedReservations,
    restore_reservations,
)
from descheduler.placement.framework.node_parts import FreePart, PartNeed
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.plugins.device_share.filter import DeviceShare
from descheduler.placement.plugins.device_share.row import ROW, GpuParts, explain_devices
from descheduler.placement.shadow.shadow_cluster import Cycle
from tests.builders import Object, node_object
from tests.placement.plugins.device_share.worlds import (
    CORE,
    MEMORY,
    RATIO,
    configured,
    decoded,
    device_object,
    gpu,
    gpu_pod,
    rdma,
    scheduler_over,
)

HALF = {CORE: "50", RATIO: "50"}
HALF_LEFT = {CORE: 50, RATIO: 50}
_PROVIDER = "koordinator.sh/gpu-isolation-provider"


def has(*minors: int, **amounts: str) -> Object:
    """The annotation of a pod that has this of each of some GPUs, by default half of it."""
    return {"gpu": [{"minor": minor, "resources": amounts or HALF} for minor in minors]}


def parts_of(*objects: Object, nodes: str = "a") -> GpuParts:
    """The GPUs of nodes with these Devices and pods."""
    return GpuParts(scheduler_over(*objects, nodes=nodes).cluster)


def said(scheduler: Scheduler, pod: Object) -> list[str]:
    """What explains why node a refuses `pod`."""
    evaluation = scheduler.evaluate(decoded(pod))
    return list(explain_devices(RefusedNode(evaluation.cycle, scheduler, 0), evaluation.first_obstacle_on(0)))


def test_healthy_gpus_are_parts_with_what_pods_left_of_them() -> None:
    pod = gpu_pod("runs", HALF, node="a", has=has(2, **{CORE: "30", RATIO: "70"}))
    parts = parts_of(device_object("a", gpu(2), gpu(0), gpu(1, healthy=False)), pod)

    free = parts.free(0)

    assert list(free.items()) == [(0, FreePart(100, 100)), (2, FreePart(70, 30))]


def test_only_devices_that_are_listed_count_as_parts() -> None:
    runs = gpu_pod("runs", HALF, node="a", has=has(0))

    assert (parts_of(runs).is_listed, parts_of(runs).free(0)) == (False, {})
    assert parts_of(device_object("a")).is_listed


def test_pod_has_the_gpus_that_its_annotation_names_once_it_is_bound() -> None:
    bound, pending = (decoded(gpu_pod("p", HALF, node=node, has=has(3, 1))) for node in ("a", ""))
    parts = parts_of()

    assert (parts.held_by(bound), parts.held_by(pending)) == ((1, 3), ())
    assert parts.held_by(decoded(gpu_pod("none", HALF, node="a"))) == ()


def test_most_memory_is_that_of_the_largest_gpu_of_the_nodes_asked_about() -> None:
    devices = [
        device_object(name, gpu(0, memory=size), gpu(1, memory="1")) for name, size in (("a", "24"), ("b", "80"))
    ]
    parts = parts_of(*devices, nodes="abc")

    assert [parts.most_memory(nodes) for nodes in ([0], [0, 1], [2], [])] == [24, 80, 0, 0]


@pytest.mark.parametrize(
    ("requests", "most_memory", "need"),
    [
        pytest.param({MEMORY: "20"}, 80, PartNeed(1, 0, 25), id="a whole number of percent"),
        pytest.param({MEMORY: "21"}, 80, PartNeed(1, 0, 27), id="percent are rounded up"),
        pytest.param({MEMORY: "20"}, 0, PartNeed(1, 0, 0), id="memory of GPUs is not told"),
        pytest.param({CORE: "50", RATIO: "30"}, 0, PartNeed(1, 50, 30), id="percent as they are"),
    ],
)
def test_bytes_count_as_percent_of_the_largest_gpu(requests: dict[str, str], most_memory: int, need: PartNeed) -> None:
    assert parts_of().need_of(decoded(gpu_pod("p", requests)), most_memory) == need


def test_pod_without_gpus_needs_no_part() -> None:
    assert parts_of().need_of(decoded(gpu_pod("p", {"koordinator.sh/rdma": "1"})), 80) is None


def test_explanation_counts_devices_that_have_exactly_as_much_left() -> None:
    pod = gpu_pod("runs", HALF, node="a", has=has(1))
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1)), pod)

    assert said(scheduler, gpu_pod("new", {"koordinator.sh/gpu.shared": "3", CORE: "150", RATIO: "150"})) == [
        "requests 3 gpu devices with gpu-core 50, gpu-memory-ratio 50 each; 2 of 2 have as much left; "
        "free: gpu-core 100, gpu-memory-ratio 100 on 0 and gpu-core 50, gpu-memory-ratio 50 on 1"
    ]


def test_explanation_says_that_no_device_is_healthy() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0, healthy=False)))

    assert said(scheduler, gpu_pod("new", HALF)) == [
        "requests 1 gpu device with gpu-core 50, gpu-memory-ratio 50 each; 0 of 1 have as much left, 1 unhealthy; "
        "free: nothing"
    ]


def test_explanation_says_which_type_the_node_lacks_and_goes_through_those_asked_for() -> None:
    scheduler = scheduler_over(device_object("a", rdma(0)))

    found = said(scheduler, gpu_pod("new", {"nvidia.com/gpu": "1", "koordinator.sh/rdma": "5"}))

    assert found == ["the node has no gpu devices"]


def test_explanation_goes_through_each_type_that_is_asked_for() -> None:
    taken = {"rdma": [{"minor": 0, "resources": {"koordinator.sh/rdma": "97"}}]}
    scheduler = scheduler_over(device_object("a", gpu(0), rdma(0)), gpu_pod("runs", HALF, node="a", has=taken))

    found = said(scheduler, gpu_pod("new", {**HALF, "koordinator.sh/rdma": "5"}))

    assert [each.partition(";")[0] for each in found] == [
        "requests 1 gpu device with gpu-core 50, gpu-memory-ratio 50 each",
        "requests 1 rdma device with rdma 5 each",
    ]


@pytest.mark.parametrize(
    ("label", "words"),
    [
        pytest.param({_PROVIDER: "other"}, "other", id="another provider"),
        pytest.param({}, "has no such label", id="no provider"),
    ],
)
def test_explanation_names_both_isolation_providers(label: dict[str, str], words: str) -> None:
    scheduler = scheduler_over(device_object("a", gpu(0)), nodes=[node_object("a", labels=label)])

    found = said(scheduler, gpu_pod("new", HALF, labels={_PROVIDER: "HAMi-core"}))

    assert found == [f"the pod is labelled {_PROVIDER}=HAMi-core, and the node {words}"]


@pytest.mark.parametrize(
    ("number", "in_use"), [pytest.param(1, "0", id="all in use"), pytest.param(3, "0", id="no such number")]
)
def test_explanation_says_how_many_gpus_the_node_gives_out_together(number: int, in_use: str) -> None:
    table = {"1": [{"minors": [0]}], "2": [{"minors": [0, 1]}]}
    devices = device_object("a", *(gpu(minor) for minor in range(3)), partitions=table)
    scheduler = scheduler_over(devices, gpu_pod("runs", HALF, node="a", has=has(0)))

    *_, last = said(scheduler, gpu_pod("new", {"nvidia.com/gpu": str(number)}, partition={}))

    assert last == f"the node gives out 1, 2 GPUs together; in use: {in_use}"


def test_explanation_of_other_obstacles_does_not_speak_of_partitions() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0)))

    found = said(scheduler, gpu_pod("new", {"nvidia.com/gpu": "2"}))

    assert len(found) == 1


@pytest.mark.parametrize(("strategy", "prefers_idle"), [("LeastAllocated", True), ("MostAllocated", False)])
def test_strategy_says_which_gpus_are_preferred(strategy: str, prefers_idle: bool) -> None:
    (profile,) = configured({"scoringStrategy": {"type": strategy}}).profiles
    assert ROW.prefers is not None

    assert ROW.prefers(profile).prefers_idle_parts is prefers_idle


def test_joint_allocation_can_be_helped_by_who_takes_a_leading_device() -> None:
    rule: Any = ROW.interactions(configured().profiles[0])
    joint, alone = decoded(gpu_pod("p", HALF, joint={"deviceTypes": ["gpu"]})), decoded(gpu_pod("p", HALF))

    assert (rule.can_be_helped(joint), rule.can_be_helped(alone)) == (True, False)


def test_pods_that_ask_for_devices_close_nodes_to_each_other() -> None:
    rule: Any = ROW.interactions(configured().profiles[0])
    asked = (HALF, {"cpu": "1"}, {CORE: "50"}, {"koordinator.sh/rdma": "1"})
    pods = [decoded(gpu_pod(f"p{index}", requests)) for index, requests in enumerate(asked)]

    meetings = Meetings(len(pods), rule.closing(GatheredPods(pods)))

    assert [meetings.on(place).tolist() for place in range(len(pods))] == [[0, 2, 3], [], [0, 2, 3], [0, 2, 3]]


def test_new_pod_has_none_of_the_devices_of_the_one_before() -> None:
    bound, plain = decoded(gpu_pod("p", HALF, node="a", has=has(0))), decoded(gpu_pod("p", HALF))
    assert ROW.renews is not None

    assert ROW.renews(plain) is plain
    assert ROW.renews(bound).annotations == {}


@pytest.mark.parametrize(
    ("devices", "scores"),
    [
        pytest.param([{1: HALF_LEFT}, {}], [100, 0], id="one without devices has nothing"),
        pytest.param([{}, {}], [0, 0], id="none has any"),
        pytest.param([{1: HALF_LEFT}, {0: HALF_LEFT}], [100, 100], id="both have some"),
    ],
)
def test_reservations_are_scored_by_their_devices(devices: list[Any], scores: list[int]) -> None:
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1)))
    plugin = scheduler.filters["DeviceShare"]
    assert isinstance(plugin, DeviceShare)
    cycle = Cycle(scheduler.cluster.placement_class(decoded(gpu_pod("new", HALF))), scheduler.cluster)
    found = [MatchedReservation(f"r{n}", devices={"gpu": each} if each else {}) for n, each in enumerate(devices)]
    restore_reservations(cycle, {0: MatchedReservations(tuple(found))})
    plugin.pre_filter(cycle)

    assert list(plugin.score_reservations(cycle, 0, found)) == scores
    assert plugin.filter_reservation(cycle, 0, MatchedReservation("none"))


def test_reservation_is_of_no_interest_to_a_pod_without_devices() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0)))
    plugin = scheduler.filters["DeviceShare"]
    assert isinstance(plugin, DeviceShare)
    cycle = Cycle(scheduler.cluster.placement_class(decoded(gpu_pod("new", {"cpu": "1"}))), scheduler.cluster)
    reservation = MatchedReservation("r", devices={"gpu": {0: HALF_LEFT}})

    assert plugin.filter_reservation(cycle, 0, reservation)
    assert list(plugin.score_reservations(cycle, 0, [reservation])) == [0]
    assert plugin.filter(cycle) is None


WHOLE_LEFT = {CORE: 100, RATIO: 100}


@pytest.mark.parametrize(
    ("reservation", "node", "gets"),
    [
        pytest.param(MatchedReservation("r", devices={"gpu": {0: WHOLE_LEFT}}, restricts=True), 0, True, id="its GPU"),
        pytest.param(
            MatchedReservation("s", devices={"gpu": {1: HALF_LEFT}}, restricts=True), 0, False, id="half of one"
        ),
        pytest.param(MatchedReservation("none"), 0, True, id="no devices, whatever is free"),
        pytest.param(MatchedReservation("r", devices={"gpu": {0: HALF_LEFT}}, restricts=True), 1, True, id="no Device"),
    ],
)
def test_reservation_gives_a_pod_its_own_devices_and_none_of_others(
    reservation: MatchedReservation, node: int, gets: bool
) -> None:
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1)), nodes="ab")
    plugin = scheduler.filters["DeviceShare"]
    assert isinstance(plugin, DeviceShare)
    whole = decoded(gpu_pod("new", {"nvidia.com/gpu": "1"}))
    cycle = Cycle(scheduler.cluster.placement_class(whole), scheduler.cluster)
    others = MatchedReservation("other", devices={"gpu": {1: WHOLE_LEFT}}, restricts=True)
    restore_reservations(cycle, {0: MatchedReservations((reservation, others))})
    plugin.pre_filter(cycle)

    assert plugin.filter_reservation(cycle, node, reservation) is gets


def test_reservation_without_devices_is_not_held_responsible_for_what_the_node_lacks() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0)), gpu_pod("runs", HALF, node="a", has=has(0)))
    plugin = scheduler.filters["DeviceShare"]
    assert isinstance(plugin, DeviceShare)
    whole = decoded(gpu_pod("new", {"nvidia.com/gpu": "1"}))
    cycle = Cycle(scheduler.cluster.placement_class(whole), scheduler.cluster)
    plugin.pre_filter(cycle)

    assert plugin.filter_reservation(cycle, 0, MatchedReservation("none"))
    assert not plugin.filter_reservation(cycle, 0, MatchedReservation("r", devices={"gpu": {0: HALF_LEFT}}))

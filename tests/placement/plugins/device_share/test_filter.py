"""What DeviceShare says of nodes: the cache, labels, reservations, and the words of refusals."""

from __future__ import annotations

import pytest

from descheduler.placement.framework.attempt import place
from descheduler.placement.framework.matched_reservations import (
    MatchedReservation,
    MatchedReservations,
    allocations_of,
    nominate_reservation,
    restore_reservations,
)
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.plugins.device_share.device_state import DeviceCache
from descheduler.placement.plugins.device_share.filter import DeviceLedger, DeviceShare
from descheduler.placement.plugins.device_share.row import explain_devices
from descheduler.placement.shadow.shadow_cluster import Cycle
from tests.builders import Object, node_object
from tests.placement.plugins.device_share.random_devices import faults
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
from tests.series import first_of

HALF = {CORE: "50", RATIO: "50"}
WHOLE = {CORE: "100", RATIO: "100"}


def has_gpu(minor: int, share: str = "100") -> Object:
    """The annotation of a pod that has a share of a GPU."""
    return {"gpu": [{"minor": minor, "resources": {CORE: share, RATIO: share}}]}


def test_node_without_a_device_is_left_to_the_other_plugins() -> None:
    scheduler = scheduler_over()
    evaluation = scheduler.evaluate(decoded(gpu_pod("new", {"nvidia.com/gpu": "1"})))

    placed = scheduler.place(evaluation, 0)

    assert evaluation.fits
    assert allocations_of(placed) == ()


def test_pod_that_names_devices_of_a_node_without_a_device_closes_it() -> None:
    scheduler = scheduler_over(gpu_pod("runs", HALF, node="a", has=has_gpu(0, "50")))

    assert reason_on(scheduler, gpu_pod("new", HALF)) == "Insufficient gpu devices"
    assert reason_on(scheduler, gpu_pod("new", {"koordinator.sh/rdma": "1"})) == "Insufficient rdma devices"


def test_pod_without_devices_is_not_looked_at() -> None:
    scheduler = scheduler_over(device_object("a"))

    assert reason_on(scheduler, gpu_pod("new", {"cpu": "1"})) == ""


def test_annotations_say_which_devices_pods_have_until_these_leave() -> None:
    runs = gpu_pod("runs", WHOLE, node="a", has=has_gpu(0))
    done = gpu_pod("done", WHOLE, node="a", has=has_gpu(1), phase="Succeeded")
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1)), runs, done)
    running = next(pod for pod in scheduler.cluster.snapshot.pods if pod.name == "runs")
    new = gpu_pod("new", {"nvidia.com/gpu": "2"})

    before = reason_on(scheduler, new)
    scheduler.cluster.remove(running)

    assert before == "Insufficient gpu devices"
    assert devices_got(scheduler, new) == [{"gpu": [0, 1]}]


def test_annotation_in_old_names_counts_and_one_that_cannot_be_read_does_not() -> None:
    old = {
        "gpu": [{"minor": 0, "resources": {"kubernetes.io/gpu-core": "100", "kubernetes.io/gpu-memory-ratio": "100"}}]
    }
    pods = [gpu_pod("old", WHOLE, node="a", has=old), gpu_pod("broken", WHOLE, node="a", has=[1])]
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1)), *pods)

    assert devices_got(scheduler, gpu_pod("new", WHOLE)) == [{"gpu": [1]}]


def test_landing_beside_a_pod_whose_devices_nobody_knows_is_conditional() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1)), gpu_pod("unnamed", WHOLE, node="a"))

    placement = place(scheduler.evaluate(decoded(gpu_pod("new", HALF)))).placement

    assert placement is not None
    assert placement.conditions == (
        "pod default/unnamed on node a must not use these devices; no annotation says which it has",
    )


def test_isolation_provider_of_a_shared_pod_has_to_be_that_of_the_node() -> None:
    label = "koordinator.sh/gpu-isolation-provider"
    nodes = [node_object("a", labels={label: "HAMi-core"}), node_object("b")]
    scheduler = scheduler_over(device_object("a", gpu(0)), device_object("b", gpu(0)), nodes=nodes)
    shared, whole = (gpu_pod("new", requests, labels={label: "HAMi-core"}) for requests in (HALF, WHOLE))

    placement = place(scheduler.evaluate(decoded(shared))).placement

    assert reason_on(scheduler, shared, node="b") == "GPUIsolationProviderHAMICore not found on the node"
    assert reason_on(scheduler, whole, node="b") == ""
    assert placement is not None
    assert placement.conditions == (
        "DeviceShare must not look at node b, whose GPU isolation provider differs; that is an error",
    )


def test_models_that_are_not_shared_take_whole_requests_alone() -> None:
    labels = {"node.koordinator.sh/gpu-vendor": "nvidia", "node.koordinator.sh/gpu-model": "T4"}
    args = {"gpuShareUnsupportedModels": [{"vendor": "nvidia", "model": "T4"}]}
    scheduler = scheduler_over(device_object("a", gpu(0)), nodes=[node_object("a", labels=labels)], args=args)

    assert reason_on(scheduler, gpu_pod("new", HALF)) == 'model "T4" of vendor "nvidia" does not support GPU Share'
    assert reason_on(scheduler, gpu_pod("new", WHOLE)) == ""


def test_request_that_no_node_can_meet_is_refused_before_nodes_are_looked_at() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0)))

    evaluation = scheduler.evaluate(decoded(gpu_pod("new", {CORE: "50"})))

    assert [refusal.reasons for refusal in evaluation.refusals] == [(f"invalid resource device requests: [{CORE}]",)]


def devices_with(scheduler: Scheduler, restored: MatchedReservation, *, is_required: bool = False) -> str:
    """The minor that a pod for half a GPU gets when a reservation has `restored` for it, or why it gets none."""
    plugin = scheduler.filters["DeviceShare"]
    assert isinstance(plugin, DeviceShare)
    cycle = Cycle(scheduler.cluster.placement_class(decoded(gpu_pod("new", HALF))), scheduler.cluster)
    restore_reservations(cycle, {0: MatchedReservations((restored,), is_required=is_required)})
    plugin.pre_filter(cycle)
    bits = plugin.filter(cycle)
    if bits is not None and bits[0]:
        return "; ".join(plugin.obstacle(cycle, 0, int(bits[0])).reasons)
    if plugin.filter_reservation(cycle, 0, restored):
        nominate_reservation(cycle, 0, restored)
    placed = scheduler.cluster.place(cycle, 0, [plugin.ledger])
    (allocation,) = allocations_of(placed)
    scheduler.cluster.take_off(placed)
    return allocation.name


@pytest.mark.parametrize("restricts", [False, True], ids=["they are preferred", "nothing else is taken"])
def test_devices_of_a_matching_reservation_come_first(restricts: bool) -> None:
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1)))
    restored = MatchedReservation("r", devices={"gpu": {1: {CORE: 50, RATIO: 50}}}, restricts=restricts)

    assert devices_with(scheduler, restored) == "1"


def test_reservation_that_restricts_and_is_required_gives_no_more_than_it_holds() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1)))
    restored = MatchedReservation("r", devices={"gpu": {1: {CORE: 30, RATIO: 30}}}, restricts=True)

    assert devices_with(scheduler, restored, is_required=True) == "Insufficient gpu devices"
    assert devices_with(scheduler, restored) == "0"


def test_reserve_pod_holds_the_devices_of_its_reservation_while_it_is_seen() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0)))
    new, stand_in = gpu_pod("new", HALF), decoded(gpu_pod("reserves", WHOLE, node="a", has=has_gpu(0)))

    with scheduler.cluster.what_if():
        scheduler.cluster.add(stand_in, 0)
        seen = reason_on(scheduler, new)

    assert (seen, reason_on(scheduler, new)) == ("Insufficient gpu devices", "")


def test_explanation_names_what_is_left_of_each_device() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1), gpu(2, healthy=False), gpu(3)))
    devices_got(scheduler, gpu_pod("first", HALF), gpu_pod("second", HALF), gpu_pod("third", {CORE: "60", RATIO: "60"}))
    evaluation = scheduler.evaluate(decoded(gpu_pod("new", {CORE: "70", RATIO: "70"})))

    found = list(explain_devices(RefusedNode(evaluation.cycle, scheduler, 0), evaluation.first_obstacle_on(0)))

    assert found == [
        "requests 1 gpu device with gpu-core 70, gpu-memory-ratio 70 each; 0 of 4 have as much left, 1 unhealthy; "
        "free: gpu-core 50, gpu-memory-ratio 50 on 0, 1 and gpu-core 40, gpu-memory-ratio 40 on 3"
    ]


def test_nodes_that_are_alike_share_a_state() -> None:
    devices = [device_object(name, gpu(0), gpu(1)) for name in "abc"]
    scheduler = scheduler_over(*devices, nodes="abc")
    cache = scheduler.cluster.follow(DeviceCache)
    idle = cache.ids.tolist()

    devices_got(scheduler, gpu_pod("first", HALF), node="a")
    devices_got(scheduler, gpu_pod("second", HALF), node="c")

    assert idle == [0, 0, 0]
    assert cache.ids.tolist() == [1, 0, 1]


@pytest.mark.parametrize("seed", first_of(10, range(40)))
def test_laws_hold_in_random_worlds(seed: int) -> None:
    """`python -m tests.placement.plugins.device_share.random_devices` looks at 10,000."""
    assert list(faults(seed)) == []


@pytest.mark.parametrize(
    "beside",
    [
        pytest.param(gpu_pod("named", HALF, node="a", has=has_gpu(0, "50")), id="its annotation names its devices"),
        pytest.param(gpu_pod("other", {"cpu": "1"}, node="a"), id="it has no devices"),
        pytest.param(gpu_pod("broken", {CORE: "50"}, node="a"), id="no node can meet its request"),
        pytest.param(gpu_pod("elsewhere", HALF, node="gone"), id="its node is not in the snapshot"),
        pytest.param(gpu_pod("pending", HALF), id="it has no node"),
    ],
)
def test_landing_beside_a_pod_is_not_conditional_where(beside: Object) -> None:
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1)), beside)

    placement = place(scheduler.evaluate(decoded(gpu_pod("new", HALF)))).placement

    assert placement is not None
    assert placement.conditions == ()


def test_pod_of_an_unknown_node_takes_no_devices() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0)), gpu_pod("lost", WHOLE, node="gone", has=has_gpu(0)))

    assert devices_got(scheduler, gpu_pod("new", WHOLE)) == [{"gpu": [0]}]


def test_devices_in_use_tell_states_of_the_cluster_apart() -> None:
    scheduler = scheduler_over(device_object("a", gpu(0), gpu(1)))
    ledger = scheduler.cluster.ledger(DeviceLedger)
    seen = [ledger.fingerprint()]

    for name in ("first", "second"):
        devices_got(scheduler, gpu_pod(name, HALF))
        seen.append(ledger.fingerprint())

    assert seen[0] == []
    assert seen[0] != seen[1] != seen[2]

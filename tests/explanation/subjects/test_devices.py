"""`explain device`: the devices of a node, who has them, and which pods wait for such devices."""

from __future__ import annotations

import pytest

from descheduler.explanation.finding import UnknownSubjectError
from descheduler.explanation.subjects.device import DeviceExplanation
from tests.builders import Object, node_object
from tests.explanation.subjects.tables import explained, table
from tests.placement.plugins.device_share.worlds import ALLOCATED, CORE, RATIO, device_object, gpu, rdma
from tests.placement.plugins.dynamic_resources.worlds import device, slice_of
from tests.placement.plugins.reservation.worlds import koord_pod, nodes, reservation_object


def has(minor: int, percent: int) -> dict[str, str]:
    """The annotation of a pod that has so much of a GPU."""
    resources = f'{{"{CORE}":"{percent}","{RATIO}":"{percent}"}}'
    return {ALLOCATED: f'{{"gpu":[{{"minor":{minor},"resources":{resources}}}]}}'}


def wants(name: str, percent: int) -> Object:
    """A pending pod that asks for so much of a GPU."""
    return koord_pod(name, cpu="1", requests={CORE: str(percent), RATIO: str(percent)})


def test_table_names_each_device_who_has_it_and_who_waits() -> None:
    objects = [
        node_object("a", allocatable={CORE: "100", RATIO: "100"}),
        device_object("a", gpu(0, place=(0, "p0")), gpu(1, healthy=False)),
        koord_pod("web-0", node="a", cpu="1", annotations=has(0, 60)),
        wants("web-1", 50),
        wants("web-2", 30),
        koord_pod("idle"),
    ]

    assert table("device", "a", *objects) == (
        "Devices of node a\n"
        "DEVICE   MINOR   STATE       NUMA   PCIE   TOTAL                                                 FREE\n"
        "gpu      0       healthy     0      p0     gpu-core 100, gpu-memory-ratio 100, gpu-memory 80Gi   "
        "gpu-core 40, gpu-memory-ratio 40, gpu-memory 80Gi\n"
        "gpu      1       unhealthy   -      -      -                                                     -\n"
        "\n"
        "DEVICE   MINOR   USED BY         AMOUNTS\n"
        "gpu      0       default/web-0   gpu-core 60, gpu-memory-ratio 60\n"
        "\n"
        "NAMESPACE   PENDING POD   REASON\n"
        "default     web-1         DeviceShare: requests 1 gpu device with gpu-core 50, gpu-memory-ratio 50 each; 0 of "
        "2 have as much left, 1 unhealthy; free: gpu-core 40, gpu-memory-ratio 40 on 0\n"
        "default     web-2         fits on the node\n"
    )


def test_part_that_a_reservation_holds_is_not_free() -> None:
    objects = [
        *nodes(a="8"),
        device_object("a", gpu(0)),
        reservation_object("room", node="a", annotations=has(0, 70)),
    ]

    device = explained(DeviceExplanation, "device", "a", *objects)
    (each,) = device.devices
    assert (each.free[CORE], [(user.reservation, user.resources[CORE]) for user in each.users]) == (30, [("room", 70)])


@pytest.mark.parametrize(
    ("objects", "notes"),
    [
        pytest.param(
            [device_object("gone", gpu(0))],
            ("node gone does not exist, so that no pod gets these devices",),
            id="a node that does not exist",
        ),
        pytest.param(
            [*nodes(gone="8"), device_object("gone", gpu(0), rdma(0), gpu(0))],
            ("gpu 0 is listed 2 times; the last entry counts",),
            id="a minor that is listed twice",
        ),
        pytest.param(
            [*nodes(gone="8"), device_object("gone", gpu(0)), koord_pod("p", node="gone", annotations=has(7, 10))],
            ("gpu 7 is not in the Device; a pod names it in its annotation",),
            id="a minor that only a pod names",
        ),
        pytest.param(
            [*nodes(gone="8"), koord_pod("p", node="gone", annotations=has(7, 10))],
            ("there is no Device of this name: its devices are those that pods name in their annotations",),
            id="no Device",
        ),
    ],
)
def test_note_says_what_is_odd(objects: list[Object], notes: tuple[str, ...]) -> None:
    device = explained(DeviceExplanation, "device", "gone", *objects)
    assert device.notes == notes


def test_node_without_devices_is_not_known() -> None:
    with pytest.raises(UnknownSubjectError) as unknown:
        explained(DeviceExplanation, "device", "b", *nodes(a="8", b="8"), device_object("a", gpu(0)))

    assert str(unknown.value).startswith("no Device or node with devices 'b' in objects")


def test_node_with_devices_of_resource_claims_is_explained_as_a_node() -> None:
    with pytest.raises(UnknownSubjectError, match=r"; devices of resource claims: descheduler explain node/b$"):
        explained(DeviceExplanation, "device", "b", *nodes(b="8"), slice_of("b", device("x")))


def test_place_of_a_device_is_told_where_the_device_states_it() -> None:
    placed = {**gpu(0), "topology": {"nodeID": 1, "pcieID": "p1", "socketID": 0}}
    objects = [*nodes(a="8"), device_object("a", placed, gpu(1))]

    device = explained(DeviceExplanation, "device", "a", *objects)

    assert [(each.numa_node, each.pcie) for each in device.devices] == [(1, "p1"), (None, None)]
    assert "healthy   1      p1" in table("device", "a", *objects)
    assert "healthy   -      -" in table("device", "a", *objects)


def test_unhealthy_device_has_nothing_to_give() -> None:
    sick = {**gpu(0), "health": False}

    (each,) = explained(DeviceExplanation, "device", "a", *nodes(a="8"), device_object("a", sick)).devices

    assert (each.is_listed, each.is_healthy, dict(each.total)) == (True, False, {})
    assert "unhealthy" in table("device", "a", *nodes(a="8"), device_object("a", sick))


def test_pods_that_wait_are_those_that_request_such_devices() -> None:
    wants = koord_pod("wants", requests={CORE: "100", RATIO: "100"})
    others = [koord_pod("cpu", cpu="1"), koord_pod("net", requests={"koordinator.sh/rdma": "100"})]
    running = koord_pod("runs", node="a", requests={CORE: "50", RATIO: "50"})
    objects = [*nodes(a="8"), device_object("a", gpu(0)), wants, *others, running]

    device = explained(DeviceExplanation, "device", "a", *objects)

    assert [each.pod.name for each in device.waiting] == ["wants"]


def test_pods_that_have_finished_have_no_part_of_a_device() -> None:
    done = koord_pod("done", node="a", annotations=has(0, 40), phase="Succeeded")
    runs = koord_pod("runs", node="a", annotations=has(0, 10))

    (each,) = explained(DeviceExplanation, "device", "a", *nodes(a="8"), device_object("a", gpu(0)), done, runs).devices

    assert [user.pod and user.pod.name for user in each.users] == ["runs"]
    assert each.free[CORE] == 90

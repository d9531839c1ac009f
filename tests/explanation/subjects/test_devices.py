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

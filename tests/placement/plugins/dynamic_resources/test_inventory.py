"""How many devices a node has, by driver and class, and how many of them are free."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.plugins.dynamic_resources.inventory import DeviceCount, DeviceInventory
from descheduler.placement.plugins.table import PLUGINS
from tests.builders import Object, node_object
from tests.placement.plugins.dynamic_resources.worlds import (
    GPU,
    NO_DEVICE_OBJECTS,
    claim,
    device,
    device_class,
    request,
    slice_of,
)

TAINT = {"key": "broken", "effect": "NoSchedule"}


def counted(*objects: Object) -> tuple[DeviceCount, ...]:
    """The devices of node a in a cluster of these objects."""
    snapshot = snapshot_from_objects([node_object("a"), *objects, *NO_DEVICE_OBJECTS])
    cluster = shadow_cluster_of(snapshot, PLUGINS)
    return DeviceInventory(cluster).on(cluster.table.nodes[0])


def has(*devices: str) -> Object:
    """A claim that has these devices."""
    return claim("old", request("r"), devices=devices)


def count(device_class: str = "gpu", *, total: int, **states: int) -> DeviceCount:
    """So many devices of a class, of which `states` are not free."""
    return DeviceCount(GPU, device_class, total, **{"in_use": 0, "shared": 0, "tainted": 0, "unusable": 0, **states})


def test_each_device_is_counted_in_one_state() -> None:
    devices = [device("u"), device("v"), device("w", taints=[TAINT]), device("x", taints=[TAINT]), device("y")]

    found = counted(device_class(), slice_of("a", *devices), has("u", "w"))

    assert found == (count(total=5, in_use=2, tainted=1),)
    assert found[0].free == 2


def test_free_are_those_in_no_other_state() -> None:
    assert count(total=10, in_use=1, shared=2, tainted=3).free == 4
    assert count(total=10, unusable=4).free == 6


def test_device_counts_for_every_class_that_selects_it_and_for_none_otherwise() -> None:
    classes = [device_class("all"), device_class("fast", f"device.attributes['{GPU}'].fast")]
    devices = [device("x", {"fast": True}), device("y", {"fast": False})]

    assert counted(*classes, slice_of("a", *devices)) == (count("all", total=2), count("fast", total=1))
    assert counted(slice_of("a", *devices)) == (count("", total=2),)


def test_class_whose_selector_fails_on_a_device_does_not_select_it() -> None:
    broken = device_class("broken", f"device.attributes['{GPU}'].missing == 1")

    assert counted(broken, slice_of("a", device("x"))) == (count("", total=1),)


def test_share_of_a_device_is_told_from_a_whole_one() -> None:
    old = has("x")
    old["status"]["allocation"]["devices"]["results"][0]["shareID"] = "0"

    found = counted(device_class(), slice_of("a", device("x", allowMultipleAllocations=True), device("y")), old)

    assert found == (count(total=2, shared=1),)


def test_devices_of_other_nodes_are_not_counted() -> None:
    one = slice_of("", device("x", nodeName="a"), device("y", nodeName="b"), pool="p", perDeviceNodeSelection=True)

    assert counted(node_object("b"), device_class(), one) == (count(total=1),)


def test_devices_of_an_incomplete_pool_are_unusable() -> None:
    piece = slice_of("a", device("x"), device("y", taints=[TAINT]))
    piece["spec"]["pool"]["resourceSliceCount"] = 2

    assert counted(device_class(), piece, has("x")) == (count(total=2, in_use=1, unusable=1),)


def card(*uses: str) -> list[Object]:
    """A device for each of these amounts of the three counters of a card."""

    def consuming(amount: str) -> Any:
        return [{"counterSet": "card", "counters": {"parts": {"value": amount}}}]

    devices = [device(f"d{index}", consumesCounters=consuming(amount)) for index, amount in enumerate(uses)]
    shared = [{"name": "card", "counters": {"parts": {"value": "3"}}}]
    pieces = [slice_of("a", *devices), slice_of("a", name="counters", sharedCounters=shared)]
    del pieces[1]["spec"]["devices"]
    for piece in pieces:
        piece["spec"]["pool"]["resourceSliceCount"] = 2
    return pieces


@pytest.mark.parametrize(
    ("taken", "unusable"),
    [
        pytest.param([], 0, id="all counters are left"),
        pytest.param(["d0"], 1, id="fewer than the largest needs"),
        pytest.param(["d0", "d1"], 1, id="none for it, and the others are in use"),
    ],
)
def test_device_that_needs_more_counters_than_are_left_is_unusable(taken: list[str], unusable: int) -> None:
    found = counted(device_class(), *card("1", "2", "3"), *([has(*taken)] if taken else []))

    assert found == (count(total=3, in_use=len(taken), unusable=unusable),)

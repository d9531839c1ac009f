"""What claims ask of the parts of nodes, as planners count them, and what is free of each part."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.placement.framework.node_parts import ALL_PARTS, FreePart, PartNeed
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.plugins.dynamic_resources.parts import ClaimParts
from descheduler.placement.plugins.table import PLUGINS
from tests.builders import Object, decode_pod, node_object
from tests.placement.plugins.dynamic_resources.worlds import (
    GPU,
    NO_DEVICE_OBJECTS,
    any_of,
    claim,
    claiming,
    claiming_object,
    device,
    device_class,
    request,
    slice_of,
)

_SIZES = "its resource claims ask for devices of different sizes"
_NO_PARTS = "its resource claims select devices that are tainted, or that several pods or nodes can use"
_OTHERS = "its resource claims ask for all devices of a kind (allocationMode: All), and a node has others beside these"
TAINT = {"key": "broken", "effect": "NoSchedule"}


def only(kind: str) -> str:
    """Selects devices of a kind."""
    return f"device.attributes['{GPU}'].kind == '{kind}'"


WHOLE, HALF = request("w", only("whole")), request("h", only("half"))
ALL_WHOLE = request("all", only("whole"), allocationMode="All")


def whole(name: str, **facts: Any) -> Object:
    """A device that is a part for itself."""
    return device(name, {"kind": "whole"}, **facts)


def sliced(name: str, kind: str, **amounts: str) -> Object:
    """A device that takes these amounts of the counters of the card."""
    counters = {counter: {"value": amount} for counter, amount in amounts.items()}
    return device(name, {"kind": kind}, consumesCounters=[{"counterSet": "card", "counters": counters}])


def card(node: str, *devices: Object, **totals: str) -> list[Object]:
    """Slices of a pool of these devices with the counters of one card."""
    counters = {counter: {"value": amount} for counter, amount in totals.items()}
    shared = [{"name": "card", "counters": counters}]
    pieces = [slice_of(node, *devices), slice_of(node, name=f"{node}-counters", sharedCounters=shared)]
    del pieces[1]["spec"]["devices"]
    for piece in pieces:
        piece["spec"]["pool"]["resourceSliceCount"] = 2
    return pieces


HALVES = [sliced("half-0", "half", parts="1"), sliced("half-1", "half", parts="1")]
MIXED = [node_object("a"), *card("a", whole("gpu-0"), whole("gpu-1"), *HALVES, parts="2")]
"""A node with two GPUs, and a card in two halves."""


def parts_of(*objects: Object) -> ClaimParts:
    """The parts of a cluster of these objects and a class of all devices."""
    snapshot = snapshot_from_objects([device_class(), *objects, *NO_DEVICE_OBJECTS])
    return ClaimParts(shadow_cluster_of(snapshot, PLUGINS))


def needed(world: list[Object], *requests: Object, is_bound: bool = False) -> tuple[PartNeed | None, str]:
    """What a pod with one claim of these requests needs, and why it cannot be told."""
    parts = parts_of(*world, claim("c", *requests))
    pod = claiming_object("p", "c")
    if is_bound:
        pod["spec"]["nodeName"] = "a"
    return parts.need_of(decode_pod(pod), 0), parts.why_uncounted(decode_pod(pod))


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        pytest.param([WHOLE], (PartNeed(1, 100, 100), ""), id="one device"),
        pytest.param([request("w", only("whole"), count=2)], (PartNeed(2, 100, 100), ""), id="two devices"),
        pytest.param([WHOLE, request("x", only("whole"))], (PartNeed(2, 100, 100), ""), id="two requests"),
        pytest.param([HALF], (PartNeed(1, 50, 50), ""), id="half of a card"),
        pytest.param([WHOLE, HALF], (None, _SIZES), id="two sizes"),
        pytest.param([request("any")], (None, _SIZES), id="devices of either size"),
        pytest.param([request("none", only("other"))], (None, ""), id="no device there is"),
        pytest.param([WHOLE, request("none", only("other"))], (PartNeed(1, 100, 100), ""), id="and another"),
        pytest.param([ALL_WHOLE], (None, _OTHERS), id="all of a kind beside others"),
        pytest.param(
            [request("w", only("whole"), adminAccess=True)],
            (None, "its resource claims have access to devices in use (adminAccess)"),
            id="devices in use",
        ),
        pytest.param([request("w", "1 / 0 == 1")], (None, ""), id="a selector that fails"),
    ],
)
def test_pod_needs_the_parts_that_its_claims_ask_for(
    requests: list[Object], expected: tuple[PartNeed | None, str]
) -> None:
    assert needed(MIXED, *requests) == expected


def test_pod_without_a_node_needs_the_smallest_alternative() -> None:
    choice = any_of("r", big=WHOLE, small=HALF)

    assert needed(MIXED, choice) == (PartNeed(1, 50, 50), "")
    assert needed(MIXED, choice, is_bound=True) == (
        None,
        "its resource claims have alternatives of different sizes (firstAvailable)",
    )


def test_alternative_that_no_node_has_is_never_taken() -> None:
    choice = any_of("r", big=WHOLE, small=request("", only("other")))

    assert needed(MIXED, choice, is_bound=True) == (PartNeed(1, 100, 100), "")


def test_two_halves_are_not_less_than_one_whole_device() -> None:
    choice = any_of("r", two=request("", only("half"), count=3), one=WHOLE)

    assert needed(MIXED, choice) == (PartNeed(1, 100, 100), "")


def test_bound_pod_of_one_size_needs_what_a_pending_one_needs() -> None:
    assert needed(MIXED, HALF, is_bound=True) == (PartNeed(1, 50, 50), "")
    assert needed(MIXED, WHOLE, HALF, is_bound=True) == (None, _SIZES)


@pytest.mark.parametrize(
    ("counts", "requests", "expected"),
    [
        pytest.param([2, 2], [ALL_WHOLE], (PartNeed(2, 100, 100), ""), id="as many as each node has"),
        pytest.param([2, 1], [ALL_WHOLE], (PartNeed(ALL_PARTS, 100, 100), ""), id="however many a node has"),
        pytest.param([2, 2], [ALL_WHOLE, WHOLE], (PartNeed(3, 100, 100), ""), id="as many and one more"),
        pytest.param(
            [2, 1],
            [ALL_WHOLE, WHOLE],
            (None, "its resource claims ask for all devices of a node (allocationMode: All) and for others"),
            id="however many and one more",
        ),
    ],
)
def test_all_devices_of_a_node_are_a_number_where_nodes_are_alike(
    counts: list[int], requests: list[Object], expected: tuple[PartNeed | None, str]
) -> None:
    world: list[Object] = []
    for name, number in zip("ab", counts, strict=True):
        world += [node_object(name), slice_of(name, *(whole(f"gpu-{index}") for index in range(number)))]

    assert needed(world, *requests) == expected


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        pytest.param([whole("x", taints=[TAINT])], (None, ""), id="tainted ones alone"),
        pytest.param([whole("x", taints=[TAINT]), whole("y")], (None, _NO_PARTS), id="a tainted one and another"),
        pytest.param([whole("x", allowMultipleAllocations=True)], (None, ""), id="shared ones alone"),
        pytest.param(
            [whole("x", allowMultipleAllocations=True), whole("y")], (None, _NO_PARTS), id="a shared one and another"
        ),
    ],
)
def test_devices_that_are_no_parts_are_not_counted(
    devices: list[Object], expected: tuple[PartNeed | None, str]
) -> None:
    assert needed([node_object("a"), slice_of("a", *devices)], WHOLE) == expected


def test_device_that_several_nodes_can_use_is_no_part() -> None:
    parts = parts_of(node_object("a"), slice_of("", whole("x"), pool="all", allNodes=True))

    assert (parts.is_listed, parts.free(0)) == (True, {})


def test_device_of_an_incomplete_pool_is_no_part() -> None:
    piece = slice_of("a", whole("x"))
    piece["spec"]["pool"]["resourceSliceCount"] = 2

    assert parts_of(node_object("a"), piece).free(0) == {}


def test_pod_needs_no_part_where_no_device_is_listed_or_its_claim_is_at_fault() -> None:
    pod = claiming("p", "c")
    other = request("w")
    other["exactly"]["deviceClassName"] = "none"

    found = [
        parts_of(node_object("a"), claim("c", WHOLE)),
        parts_of(*MIXED),
        parts_of(*MIXED, claim("c", other)),
    ]

    assert [(each.is_listed, each.need_of(pod, 0), each.why_uncounted(pod)) for each in found] == [
        (False, None, ""),
        (True, None, ""),
        (True, None, ""),
    ]


def test_pod_without_claims_needs_no_part() -> None:
    parts = parts_of(*MIXED)

    assert (parts.need_of(claiming("p"), 0), parts.why_uncounted(claiming("p"))) == (None, "")


def in_use(*devices: str) -> Object:
    """A claim that has these devices."""
    return claim("old", request("r"), devices=devices)


@pytest.mark.parametrize(
    ("taken", "free"),
    [
        pytest.param([], [100, 100, 100], id="nothing in use"),
        pytest.param(["gpu-1"], [100, 0, 100], id="a whole device"),
        pytest.param(["half-0"], [100, 100, 50], id="half of a card"),
        pytest.param(["half-0", "half-1"], [100, 100, 0], id="a card"),
    ],
)
def test_part_has_free_what_no_device_in_use_takes(taken: list[str], free: list[int]) -> None:
    found = parts_of(*MIXED, in_use(*taken)) if taken else parts_of(*MIXED)

    assert found.free(0) == {part: FreePart(percent, percent) for part, percent in enumerate(free)}


def test_share_of_a_card_is_its_largest_of_any_counter_rounded_up() -> None:
    devices = [sliced("x", "x", memory="1", cores="1"), sliced("y", "y", memory="1", cores="2"), sliced("z", "z")]
    world = [node_object("a"), *card("a", *devices, memory="3", cores="2", spare="0")]

    found = [needed(world, request("r", only(kind)))[0] for kind in "xyz"]

    assert found == [PartNeed(1, percent, percent) for percent in (50, 100, 100)]
    assert needed([node_object("a"), *card("a", sliced("x", "x", memory="1"), memory="3")], request("r"))[
        0
    ] == PartNeed(1, 34, 34)


def test_state_of_a_node_is_one_object_until_it_changes() -> None:
    cluster = shadow_cluster_of(snapshot_from_objects([*MIXED, device_class(), *NO_DEVICE_OBJECTS]), PLUGINS)
    parts = ClaimParts(cluster)

    assert parts.state(0) is parts.state(0)
    assert parts.state(0) == parts.free(0)


def test_devices_that_are_no_parts_do_not_count_beside_those_that_are() -> None:
    tainted = device("t", {"kind": "tainted"}, taints=[TAINT])
    world = [node_object("a"), slice_of("a", whole("x"), tainted)]

    assert needed(world, WHOLE, request("t", only("tainted"))) == (PartNeed(1, 100, 100), "")

"""Why the devices of a node do not do for a claim, by the rules of the scheduler's release."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from descheduler.model.kube_version import KubeVersion
from tests.builders import Object, node_object
from tests.placement.plugins.dynamic_resources.worlds import (
    GPU,
    claim,
    claiming,
    device,
    device_class,
    evaluate,
    on_nodes,
    request,
    scheduler_of,
    slice_of,
)


def test_share_that_is_charged_again_lacks_counters() -> None:
    """kube-scheduler 1.36 charges counters again for a device whose share states no amounts."""
    uses = [{"counterSet": "card", "counters": {"parts": {"value": "1"}}}]
    counters = [{"name": "card", "counters": {"parts": {"value": "1"}}}]
    shared = device("x", consumesCounters=uses, allowMultipleAllocations=True)
    pieces = [slice_of("a", shared), slice_of("a", name="counters", sharedCounters=counters)]
    del pieces[1]["spec"]["devices"]
    for piece in pieces:
        piece["spec"]["pool"]["resourceSliceCount"] = 2
    old = claim("old", request("r"), devices=["x"])
    old["status"]["allocation"]["devices"]["results"][0]["shareID"] = "0"
    world = node_object("a"), device_class(), *pieces, old, claim("c", request("r"))
    scheduler = scheduler_of(*world, version=KubeVersion(1, 36))

    sentences = [*on_nodes(evaluate(scheduler, claiming("new", "c"))).why_not(0)]

    lacks = "1 device: 1 needs more of shared counters than is left"
    assert sentences == [f"resource claim c, request r (count: 1): {lacks}"]


def test_selector_that_a_device_fails_is_counted_among_those_of_its_own_place() -> None:
    """The class has two selectors and the request two: the second of either is the one that fails."""

    def sentences(of_class: str, of_request: str) -> list[str]:
        world = node_object("a"), device_class("gpu", "true", of_class), slice_of("a", device("x"))
        scheduler = scheduler_of(*world, claim("c", request("r", "true", of_request)))
        return [*on_nodes(evaluate(scheduler, claiming("new", "c"))).why_not(0)]

    said = "resource claim c, request r (count: 1): 1 device: 1 fails"
    assert sentences("true", "1 > 2") == [f"{said} selector 2 (1 > 2)"]
    assert sentences("1 > 2", "true") == [f"{said} selector 2 of DeviceClass gpu (1 > 2)"]


def shortages(*devices: Object, claims: Sequence[Object], old: Sequence[str] = ()) -> list[str]:
    """What is said of a node with these devices and a pod of `claims`, of whose devices `old` are in use."""
    world = [node_object("a"), device_class(), slice_of("a", *devices), *claims]
    if old:
        world.append(claim("old", request("r"), devices=old))
    names = [each["metadata"]["name"] for each in claims]
    return [*on_nodes(evaluate(scheduler_of(*world), claiming("new", *names))).why_not(0)]


_ALL = claim("c", request("r", allocationMode="All"))
_SAID = "resource claim c, request r (allocationMode: All)"
_TAINTS = [{"key": "bad", "effect": "NoSchedule"}]


def test_all_devices_are_wanted_and_one_is_not_to_be_had() -> None:
    assert shortages(device("x"), device("y"), claims=[_ALL], old=["x"]) == [
        f"{_SAID}: 2 devices: 1 is allocated, 1 can be taken"
    ]
    assert shortages(device("x"), device("y", taints=_TAINTS), claims=[_ALL]) == [
        f"{_SAID}: 2 devices: 1 can be taken, 1 is tainted (NoSchedule bad)"
    ]


def test_all_of_no_device_are_too_few() -> None:
    only = claim("c", request("r", "1 > 2", allocationMode="All"))

    assert shortages(device("x"), claims=[only]) == [f"{_SAID}: 1 device: 1 fails selector 1 (1 > 2)"]
    assert shortages(claims=[_ALL]) == [f"{_SAID}: the node has no devices"]


def test_requests_that_have_enough_each_do_not_fit_together() -> None:
    claims = [claim("c", request("r")), claim("d", request("r"))]

    assert shortages(device("x"), claims=claims) == [
        "each request has enough devices for itself; together they do not fit"
    ]


def test_attribute_of_a_constraint_is_missed_by_the_requests_that_it_is_about() -> None:
    constraint = {"matchAttribute": f"{GPU}/n", "requests": ["r"]}
    asked = claim("c", request("r"), request("s"), constraints=[constraint])

    assert shortages(device("x"), device("y"), claims=[asked]) == [
        f"resource claim c, request r (count: 1): 2 devices: 2 lack attribute {GPU}/n"
    ]
    assert shortages(device("x", {"n": 1}), claims=[claim("c", request("r", count=2), constraints=[constraint])]) == [
        "resource claim c, request r (count: 2): 1 device: 1 can be taken"
    ]


@pytest.mark.parametrize(
    ("wanted", "held", "is_small"),
    [
        pytest.param("60", "40", False, id="exactly what is left"),
        pytest.param("61", "40", True, id="more than is left"),
        pytest.param("101", None, True, id="more than there is"),
        pytest.param("100", None, False, id="all that there is"),
    ],
)
def test_share_of_a_device_needs_the_capacity_that_is_left(wanted: str, held: str | None, is_small: bool) -> None:
    shared = device("x", allowMultipleAllocations=True, capacity={"memory": {"value": "100"}})
    asked = claim("c", request("r", capacity={"requests": {"memory": wanted}}))
    world = [node_object("a"), device_class(), slice_of("a", shared), asked]
    if held is not None:
        old = claim("old", request("r"), devices=["x"])
        old["status"]["allocation"]["devices"]["results"][0] |= {"shareID": "0", "consumedCapacity": {"memory": held}}
        world.append(old)

    found = [*on_nodes(evaluate(scheduler_of(*world), claiming("new", "c"))).why_not(0)]

    said = "resource claim c, request r (count: 1): 1 device: 1 has too little capacity"
    assert found == ([said] if is_small else [])


def test_device_without_counters_can_be_taken_where_they_are_overdrawn() -> None:
    """The device in use takes more of the counters than there is."""

    def using(name: str, parts: str) -> Object:
        return device(name, consumesCounters=[{"counterSet": "card", "counters": {"parts": {"value": parts}}}])

    counters = [{"name": "card", "counters": {"parts": {"value": "2"}}}]
    devices = using("big", "3"), using("small", "1"), device("plain")
    pieces = [slice_of("a", *devices), slice_of("a", name="counters", sharedCounters=counters)]
    del pieces[1]["spec"]["devices"]
    for piece in pieces:
        piece["spec"]["pool"]["resourceSliceCount"] = 2
    old = claim("old", request("r"), devices=["big"])
    world = node_object("a"), device_class(), *pieces, old, claim("c", request("r", count=2))

    assert [*on_nodes(evaluate(scheduler_of(*world), claiming("new", "c"))).why_not(0)] == [
        "resource claim c, request r (count: 2): 3 devices: 1 is allocated, 1 needs more of shared counters than is"
        " left, 1 can be taken"
    ]


def test_pool_that_cannot_be_used_is_named() -> None:
    piece = slice_of("a", device("x"))
    piece["spec"]["pool"]["resourceSliceCount"] = 2
    scheduler = scheduler_of(node_object("a"), device_class(), piece, claim("c", request("r")))

    assert [*on_nodes(evaluate(scheduler, claiming("new", "c"))).why_not(0)] == [
        f"pool {GPU}/a is incomplete: its driver has not published all ResourceSlices of it",
        "resource claim c, request r (count: 1): the node has no devices",
    ]

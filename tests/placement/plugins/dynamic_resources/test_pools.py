"""Pools of devices as one node sees them: which slices are in sight, and whether a pool can be used."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.model.kube_version import KubeVersion
from descheduler.model.resource_claims import SLICE_KIND, TAINT_RULE_KIND, DeviceId
from descheduler.placement.plugins.dynamic_resources.pools import DevicePool, DevicePools, PoolState
from descheduler.placement.plugins.dynamic_resources.rules import DeviceRules
from tests.builders import Object, make_node, node_object
from tests.placement.plugins.dynamic_resources.worlds import (
    GPU,
    NO_DEVICE_OBJECTS,
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

A, B = make_node("a", labels={"zone": "z", "disk": "ssd"}), make_node("b", labels={"zone": "y"})


def pools_of(*pieces: Object, version: str = "1.37", others: tuple[Object, ...] = ()) -> DevicePools:
    """The pools that these slices make up."""
    kinds = {each["kind"] for each in others}
    lists = [each for each in NO_DEVICE_OBJECTS if each["kind"].removesuffix("List") not in kinds]
    snapshot = snapshot_from_objects([*pieces, *others, *lists])
    rules = DeviceRules.of(KubeVersion.parse(version))
    return DevicePools(snapshot.objects[SLICE_KIND], snapshot.objects.get(TAINT_RULE_KIND, ()), rules)


def seen(*pieces: Object, **facts: Any) -> tuple[DevicePool, ...]:
    """The pools in sight of node a."""
    return pools_of(*pieces, **facts).seen_from(A)


def piece(name: str, *devices: str, generation: int = 1, number: int = 1, node: str = "a", **spec: Any) -> Object:
    """A slice of the pool `p`, which says that the pool has `number` slices."""
    made = slice_of(node, *map(device, devices), pool="p", name=name, **spec)
    made["spec"]["pool"] |= {"generation": generation, "resourceSliceCount": number}
    return made


def in_state(*pieces: Object, **facts: Any) -> tuple[PoolState, list[str]]:
    """The state of the only pool, and the names of its devices."""
    (pool,) = seen(*pieces, **facts)
    return pool.state, [each.id.device for each in pool.devices]


@pytest.mark.parametrize(
    ("pieces", "state", "devices"),
    [
        pytest.param([piece("s", "x", "y")], PoolState.COMPLETE, ["x", "y"], id="one slice of one"),
        pytest.param(
            [piece("t", "x", number=2), piece("s", "y", number=2)], PoolState.COMPLETE, ["y", "x"], id="slices by name"
        ),
        pytest.param([piece("s", "x", number=2)], PoolState.INCOMPLETE, ["x"], id="one slice of two"),
        pytest.param(
            [piece("s", "x", number=2), piece("t", "y", number=2, node="b")],
            PoolState.COMPLETE,
            ["x"],
            id="another slice is out of sight",
        ),
        pytest.param(
            [piece("s", "x", number=3), piece("t", "y", number=3, node="b")],
            PoolState.INCOMPLETE,
            ["x"],
            id="two slices of three, of which one is out of sight",
        ),
        pytest.param(
            [piece("s", "x"), piece("t", "y", generation=2)], PoolState.COMPLETE, ["y"], id="the newest generation"
        ),
        pytest.param(
            [piece("s", "x", number=2), piece("t", "y", generation=2, number=2, node="b")],
            PoolState.OBSOLETE,
            [],
            id="an older generation of which a slice is missing",
        ),
        pytest.param(
            [piece("s", "x"), piece("t", "y", generation=2, node="b")],
            PoolState.COMPLETE,
            ["x"],
            id="an older generation that is complete",
        ),
        pytest.param(
            [piece("s", "x"), piece("t", "y", number=2)], PoolState.UNKNOWN, ["x", "y"], id="slices that disagree"
        ),
        pytest.param([piece("s", "x", "x")], PoolState.INVALID, ["x", "x"], id="a device twice"),
        pytest.param(
            [piece("s", "x", number=2), piece("t", "x", number=2)], PoolState.INVALID, ["x", "x"], id="in two slices"
        ),
    ],
)
def test_pool_can_be_used_when_its_slices_are_all_there(
    pieces: list[Object], state: PoolState, devices: list[str]
) -> None:
    assert in_state(*pieces) == (state, devices)


def counted(*counter_sets: str, uses: tuple[str, ...] = ("card",), counter: str = "parts") -> list[Object]:
    """A slice of devices that use a counter of these sets, and a slice with the sets."""
    consumes = [{"counterSet": name, "counters": {counter: {"value": "1"}}} for name in uses]
    devices = slice_of("a", device("x", consumesCounters=consumes), pool="p", name="devices")
    shared = [{"name": name, "counters": {"parts": {"value": "2"}}} for name in counter_sets]
    counters = slice_of("a", pool="p", name="shared", sharedCounters=shared)
    del counters["spec"]["devices"]
    for each in (devices, counters):
        each["spec"]["pool"]["resourceSliceCount"] = 2
    return [devices, counters]


@pytest.mark.parametrize(
    ("pieces", "state"),
    [
        pytest.param(counted("card"), PoolState.COMPLETE, id="a set"),
        pytest.param(counted("card", "other"), PoolState.COMPLETE, id="two sets"),
        pytest.param(counted("card", "card"), PoolState.INVALID, id="a set twice"),
        pytest.param(counted("other"), PoolState.INVALID, id="no such set"),
        pytest.param(counted("card", counter="memory"), PoolState.INVALID, id="no such counter"),
    ],
)
def test_devices_use_counters_that_there_are(pieces: list[Object], state: PoolState) -> None:
    (pool,) = seen(*pieces)

    assert pool.state is state
    assert [each.id.device for each in pool.consumers] == (["x"] if state is PoolState.COMPLETE else [])


def zone(*values: str, operator: str = "In", key: str = "zone", fields: bool = False) -> Object:
    """A node selector of one condition."""
    condition = {"key": "metadata.name" if fields else key, "operator": operator, "values": list(values)}
    return {"nodeSelectorTerms": [{"matchFields" if fields else "matchExpressions": [condition]}]}


@pytest.mark.parametrize(
    ("spec", "is_seen"),
    [
        pytest.param({"allNodes": True}, True, id="all nodes"),
        pytest.param({"nodeName": "a"}, True, id="its name"),
        pytest.param({"nodeName": "b"}, False, id="another name"),
        pytest.param({"nodeSelector": zone("z", "x")}, True, id="its zone"),
        pytest.param({"nodeSelector": zone("y")}, False, id="another zone"),
        pytest.param({"nodeSelector": zone("y", operator="NotIn")}, True, id="all zones but one"),
        pytest.param({"nodeSelector": zone("z", operator="NotIn")}, False, id="all zones but its own"),
        pytest.param({"nodeSelector": zone("a", fields=True)}, True, id="its name by a selector"),
        pytest.param({"nodeSelector": zone("b", fields=True)}, False, id="another name by a selector"),
        pytest.param({"nodeSelector": zone(operator="Exists", key="disk")}, True, id="a label"),
        pytest.param({"nodeSelector": zone(operator="Exists", key="gpu")}, False, id="a label that it lacks"),
        pytest.param({}, False, id="no node"),
    ],
)
def test_slice_is_in_sight_of_the_nodes_that_it_names(spec: Object, is_seen: bool) -> None:
    assert bool(seen(slice_of("", device("x"), pool="p", **spec))) is is_seen


@pytest.mark.parametrize(
    ("reach", "is_seen", "is_usable"),
    [
        pytest.param([{"nodeName": "a"}], True, [True], id="for the node"),
        pytest.param([{"nodeName": "b"}], False, [], id="for another node"),
        pytest.param([{"nodeName": "b"}, {"nodeName": "a"}], True, [False, True], id="one of two for the node"),
        pytest.param([{"nodeName": "b"}, {"allNodes": True}], True, [False, True], id="one of two for all"),
    ],
)
def test_slice_whose_devices_name_nodes_is_seen_by_these(
    reach: list[Object], is_seen: bool, is_usable: list[bool]
) -> None:
    devices = [device(f"d{index}", **each) for index, each in enumerate(reach)]

    found = seen(slice_of("", *devices, pool="p", perDeviceNodeSelection=True))

    assert bool(found) is is_seen
    assert [each.is_usable_from(A) for pool in found for each in pool.devices] == is_usable
    assert [pool.is_alike for pool in found] == ([False] if is_seen else [])


def test_nodes_that_see_the_same_slices_share_a_pool() -> None:
    pools = pools_of(slice_of("", device("x"), pool="p", allNodes=True), slice_of("a", device("y")))

    assert pools.seen_from(B)[0] in pools.seen_from(A)
    assert [len(pools.seen_from(node)) for node in (A, B)] == [2, 1]


def test_pools_with_binding_conditions_are_tried_last() -> None:
    waits: Any = {"bindingConditions": ["ready"], "bindingFailureConditions": ["broken"]}

    found = seen(
        slice_of("a", device("x", **waits), pool="first"),
        slice_of("a", device("y"), pool="second"),
        slice_of("a", device("z"), pool="third", driver="a.example.com"),
    )

    assert [pool.name for pool in found] == ["a.example.com/third", f"{GPU}/second", f"{GPU}/first"]


TAINTS = [{"key": key, "effect": effect} for key, effect in (("s", "NoSchedule"), ("e", "NoExecute"), ("n", "None"))]


def test_taints_that_keep_pods_off_matter() -> None:
    pools = pools_of(slice_of("a", device("x", taints=TAINTS)))
    (pool,) = pools.seen_from(A)

    assert [taint.key for taint in pool.devices[0].taints] == ["s", "e"]
    assert [taint.key for taint in pools.taints_of(DeviceId(GPU, "a", "x"))] == ["s", "e"]
    assert pools.taints_of(DeviceId(GPU, "a", "gone")) == ()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        pytest.param(PoolState.INCOMPLETE, True, id="incomplete"),
        pytest.param(PoolState.OBSOLETE, True, id="obsolete"),
        pytest.param(PoolState.INVALID, False, id="invalid"),
        pytest.param(PoolState.COMPLETE, False, id="complete"),
    ],
)
def test_pool_changes_while_its_driver_publishes_more_of_it(fault: PoolState, said: bool) -> None:
    (complete,) = seen(piece("s", "x"))

    assert DevicePool(complete.key, complete.devices, fault).is_changing is said


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        pytest.param("1 > 2", "1 > 2", id="short"),
        pytest.param("1 >\n   2", "1 > 2", id="on two lines"),
        pytest.param(f"1 > {'2' * 16} && {'1 > 2 && ' * 6}true", None, id="of 80 characters and more"),
        pytest.param(f"{'1 > 2 ||' * 9} 1 > 23", f"{'1 > 2 ||' * 9} 1 > 23", id="of 79 characters"),
    ],
)
def test_expression_is_shown_on_one_line_and_not_too_long(expression: str, shown: str | None) -> None:
    world = node_object("a"), device_class(), slice_of("a", device("x")), claim("c", request("r", expression))

    (told,) = on_nodes(evaluate(scheduler_of(*world), claiming("p", "c"))).why_not(0)

    line = " ".join(expression.split())
    assert told.endswith(f"fails selector 1 ({shown or f'{line[:79]}…'})")

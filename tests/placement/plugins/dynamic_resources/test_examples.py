"""Which devices pods get, in clusters so small that each answer can be worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.kube_version import KubeVersion
from tests.builders import Object, node_object
from tests.placement.plugins.dynamic_resources.worlds import (
    GPU,
    against,
    any_of,
    claim,
    claiming,
    device,
    device_class,
    devices_on,
    on_nodes,
    request,
    scheduler_of,
    slice_of,
)

IS_A = f"device.attributes['{GPU}'].m == 'A'"
GIB = 2**30
CLASS, NODE = device_class(), node_object("a")


def one_node(*devices: Object, **spec: Any) -> tuple[Object, ...]:
    return NODE, CLASS, slice_of("a", *devices, **spec)


def got(world: tuple[Object, ...], *requests: Object, **claimed: Any) -> list[str] | None:
    """What a pod with one claim of these requests gets on node `a`; None where it does not fit."""
    scheduler = scheduler_of(*world, claim("c", *requests, **claimed))
    return devices_on(scheduler, claiming("p", "c")).get("a")


def test_request_gives_up_the_device_that_only_another_one_can_use() -> None:
    world = one_node(device("x", {"m": "A"}), device("y", {"m": "B"}))

    assert got(world, request("r0"), request("r1", IS_A)) == ["r0=y", "r1=x"]


def test_first_pair_that_agrees_in_an_attribute_is_taken() -> None:
    world = one_node(*(device(name, {"n": number}) for name, number in (("w", 0), ("x", 1), ("y", 2), ("z", 1))))

    assert got(world, request("r", count=2), constraints=[{"matchAttribute": f"{GPU}/n"}]) == ["r=x", "r=z"]


def test_alternative_counts_only_with_everything_that_follows() -> None:
    asked = any_of("r0", s0=request("", count=2), s1=request("")), request("r1", count=2)
    scheduler = scheduler_of(*one_node(device("x"), device("y"), device("z")), claim("c", *asked))

    evaluation = scheduler.evaluate(claiming("p", "c"))

    assert devices_on(scheduler, claiming("p", "c")) == {"a": ["r0/s1=x", "r1=y", "r1=z"]}
    assert on_nodes(evaluation).answer(0).score == 7


def test_earlier_alternatives_give_a_node_more() -> None:
    """Each claim takes `A` where it can, and anything else otherwise."""
    choice = any_of("r", first=request("", IS_A), other=request(""))
    nodes = [node_object(name) for name in "abc"]
    slices = [
        slice_of("a", device("x", {"m": "A"}), device("y", {"m": "A"})),
        slice_of("b", device("x", {"m": "A"}), device("y", {"m": "B"})),
        slice_of("c", device("x", {"m": "B"}), device("y", {"m": "B"})),
    ]
    scheduler = scheduler_of(*nodes, *slices, CLASS, claim("one", choice), claim("two", choice))

    evaluation = scheduler.evaluate(claiming("p", "one", "two"))
    given = evaluation.scores().by_plugin["DynamicResources"]

    assert given.raw is not None
    assert given.raw.tolist() == [16, 15, 14]
    assert given.final.tolist() == [200, 186, 174]


CARD = {"sharedCounters": [{"name": "card", "counters": {"memory": {"value": "40Gi"}}}]}


def partition(name: str, amount: str, counter_set: str = "card") -> Object:
    return device(name, consumesCounters=[{"counterSet": counter_set, "counters": {"memory": {"value": amount}}}])


def card(*devices: Object, **counters: Any) -> tuple[Object, ...]:
    """A pool of two slices, one for devices and one for what they share."""
    two = {"pool": {"name": "a", "generation": 1, "resourceSliceCount": 2}}
    return (
        NODE,
        CLASS,
        {**(made := slice_of("a", *devices)), "spec": made["spec"] | two},
        {
            **(shared := slice_of("a", name="shared")),
            "spec": {key: each for key, each in shared["spec"].items() if key != "devices"} | two | (counters or CARD),
        },
    )


PARTITIONS = (partition("full", "40Gi"), partition("h0", "20Gi"), partition("h1", "20Gi"))


@pytest.mark.parametrize(
    ("in_use", "number", "expected"),
    [
        pytest.param([], 1, ["r=full"], id="the first device is the whole card"),
        pytest.param([], 2, ["r=h0", "r=h1"], id="two devices are both halves"),
        pytest.param(["h0"], 1, ["r=h1"], id="beside one half the other is left"),
        pytest.param(["h0"], 2, None, id="beside one half there are no two"),
    ],
)
def test_partitions_of_a_card_share_its_memory(in_use: list[str], number: int, expected: list[str] | None) -> None:
    taken = [claim("old", request("r"), devices=in_use)] if in_use else []

    assert got((*card(*PARTITIONS), *taken), request("r", count=number)) == expected


def test_overdrawn_counters_block_all_that_count_in_the_pool() -> None:
    two_sets = {
        "sharedCounters": [
            {"name": "card", "counters": {"memory": {"value": "40Gi"}}},
            {"name": "other", "counters": {"memory": {"value": "1"}}},
        ]
    }
    devices = partition("big", "60Gi"), partition("small", "1", "other"), device("plain")
    world = (*card(*devices, **two_sets), claim("old", request("r"), devices=["big"]))

    assert got(world, request("r")) == ["r=plain"]


def test_slices_beyond_the_stated_number_do_not_count_where_those_in_sight_are_as_many() -> None:
    """The driver states two slices and has published two on each of two nodes."""

    def half(node: str) -> tuple[Object, Object]:
        pool = {"pool": {"name": "a", "generation": 1, "resourceSliceCount": 2}}
        counters = [{"name": node, "counters": {"memory": {"value": "1"}}}]
        devices, shared = slice_of(node, partition(node, "1", node)), slice_of(node, name=f"{node}-counters")
        del shared["spec"]["devices"]
        devices["spec"] |= pool
        shared["spec"] |= {**pool, "sharedCounters": counters}
        return devices, shared

    world = (NODE, CLASS, *half("a"), *half("b"), claim("old", request("r"), devices=["b"]))

    assert got(world, request("r")) == ["r=a"]


def sized(name: str, value: str, policy: Object | None = None, *, shared: bool = True) -> Object:
    capacity: Object = {"value": value} if policy is None else {"value": value, "requestPolicy": policy}
    return device(name, capacity={"memory": capacity}, allowMultipleAllocations=shared)


def of_size(name: str, amount: str, **fields: Any) -> Object:
    return request(name, capacity={"requests": {"memory": amount}}, **fields)


STEPS = {"default": "2G", "validRange": {"min": "1G", "max": "8G", "step": "1G"}}
VALUES = {"default": "2G", "validValues": ["2G", "4G"]}


@pytest.mark.parametrize(
    ("policy", "amount", "expected"),
    [
        pytest.param(STEPS, "500M", 1, id="below the least"),
        pytest.param(STEPS, "1500M", 2, id="up to the next step"),
        pytest.param(STEPS, "6500M", 7, id="up to a later step"),
        pytest.param(STEPS, "7500M", 8, id="up to the most"),
        pytest.param(STEPS, "9G", None, id="above the most"),
        pytest.param(STEPS, None, 2, id="the default"),
        pytest.param(VALUES, "1G", 2, id="up to the first value"),
        pytest.param(VALUES, "3G", 4, id="up to the next value"),
        pytest.param(VALUES, "5G", None, id="above the last value"),
        pytest.param(None, None, 20, id="all of it without policy and request"),
    ],
)
def test_amount_that_is_consumed_follows_the_policy(
    policy: Object | None, amount: str | None, expected: int | None
) -> None:
    asked = request("r") if amount is None else of_size("r", amount)
    scheduler = scheduler_of(*one_node(sized("x", "20G", policy)), claim("c", asked))

    evaluation = scheduler.evaluate(claiming("p", "c"))

    allocations = on_nodes(evaluation).answer(0).allocations
    consumed = [each.consumed for allocation in allocations for each in allocation.results]
    assert consumed == ([] if expected is None else [{"memory": expected * 10**9 * 10**9}])


@pytest.mark.parametrize(
    ("policy", "amount", "expected"),
    [
        pytest.param({"validRange": {"min": "1G", "step": "0"}}, "3G", 3, id="steps of nothing are none"),
        pytest.param({"validRange": {"min": "1G", "step": "-1G"}}, "3G", 3, id="steps downwards are none"),
        pytest.param({"validRange": {"max": "2G"}}, "3G", None, id="above the most of a range without a least"),
        pytest.param(None, "-5G", None, id="less than nothing"),
        pytest.param({"default": "-5G"}, None, None, id="a default of less than nothing"),
        pytest.param(None, "1e40", None, id="more than any device has"),
    ],
)
def test_amount_that_no_api_server_stores_is_never_given_twice(
    policy: Object | None, amount: str | None, expected: int | None
) -> None:
    test_amount_that_is_consumed_follows_the_policy(policy, amount, expected)


@pytest.mark.parametrize("number", [0, -1])
def test_request_for_no_device_is_one_for_one_device(number: int) -> None:
    """The API server takes a count of 0 for 1, and stores none below."""
    assert got(one_node(device("x")), request("r", count=number)) == ["r=x"]


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        pytest.param([of_size("r0", "6G"), of_size("r1", "4G")], ["r0=x", "r1=x"], id="both fit"),
        pytest.param([of_size("r0", "6G"), of_size("r1", "5G")], None, id="together they are too much"),
        pytest.param([of_size("r0", "1G", count=2)], None, id="one request wants two devices"),
    ],
)
def test_device_is_shared_by_requests_and_not_within_one(requests: list[Object], expected: list[str] | None) -> None:
    assert got(one_node(sized("x", "10G")), *requests) == expected


DISTINCT = [{"distinctAttribute": f"{GPU}/n"}]
ADMIN: Object = {"adminAccess": True}


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        pytest.param([request("r", **ADMIN)], ["r=x"], id="a device in use"),
        pytest.param([request("r", **ADMIN, count=2)], ["r=x", "r=y"], id="no device twice"),
        pytest.param([request("r"), request("s", **ADMIN)], ["r=y", "s=x"], id="beside a request for a free device"),
        pytest.param([request("r", **ADMIN, count=3)], None, id="not more devices than there are"),
    ],
)
def test_admin_access_is_given_to_devices_in_use(requests: list[Object], expected: list[str] | None) -> None:
    world = (*one_node(device("x"), device("y")), claim("old", request("r"), devices=["x"]))

    assert got(world, *requests) == expected


def test_slices_of_a_pool_that_disagree_leave_the_node_undecided() -> None:
    pieces = [slice_of("a", device(name), pool="a", name=name) for name in "xy"]
    pieces[1]["spec"]["pool"]["resourceSliceCount"] = 2
    scheduler = scheduler_of(NODE, CLASS, *pieces, claim("c", request("r")))

    answer = on_nodes(scheduler.evaluate(claiming("new", "c"))).answer(0)

    assert answer.detail == "the ResourceSlices of a pool disagree on resourceSliceCount"


@pytest.mark.parametrize(
    ("numbers", "version", "expected"),
    [
        pytest.param([0, 0, 1, 0, 2], KubeVersion(1, 37), ["r=v", "r=x", "r=z"], id="no value twice"),
        pytest.param([0, 0, 1, 0, 2], KubeVersion(1, 36), ["r=v", "r=x", "r=y"], id="1.36 compares with the last"),
        pytest.param([0, 1, 0], KubeVersion(1, 37), None, id="two values are too few for three"),
        pytest.param([0, 1, 0], KubeVersion(1, 36), ["r=v", "r=w", "r=x"], id="1.36 takes them"),
    ],
)
def test_distinct_values(numbers: list[int], version: KubeVersion, expected: list[str] | None) -> None:
    devices = [device(name, {"n": number}) for name, number in zip("vwxyz", numbers, strict=False)]
    asked = claim("c", request("r", count=3), constraints=DISTINCT)

    scheduler = scheduler_of(*one_node(*devices), asked, version=version)

    assert devices_on(scheduler, claiming("p", "c")).get("a") == expected


class TestErrors:
    """An expression without a value ends the attempt for all nodes, if the search gets as far as that device."""

    def test_missing_attribute_on_one_node_keeps_the_pod_off_all(self) -> None:
        world = (
            node_object("a"),
            node_object("b"),
            CLASS,
            slice_of("a", device("x")),
            slice_of("b", device("x", {"m": "A"})),
        )
        scheduler = scheduler_of(*world, claim("c", request("r", IS_A)))

        found = against(scheduler, claiming("p", "c"))

        assert found["b"] == ("an error on another node ends the attempt",)
        assert "no such key" in found["a"][0]

    def test_guarded_selector_leaves_the_other_nodes(self) -> None:
        world = (
            node_object("a"),
            node_object("b"),
            CLASS,
            slice_of("a", device("x")),
            slice_of("b", device("x", {"m": "A"})),
        )
        guarded = f"has(device.attributes['{GPU}'].m) && {IS_A}"
        scheduler = scheduler_of(*world, claim("c", request("r", guarded)))

        assert devices_on(scheduler, claiming("p", "c")) == {"b": ["r=x"]}

    @pytest.mark.parametrize(
        ("asked", "is_error"),
        [
            pytest.param(request("r", IS_A), False, id="the search ends before it"),
            pytest.param(request("r", IS_A, count=2), True, id="two devices are wanted"),
            pytest.param(request("r", IS_A, allocationMode="All"), True, id="all devices are wanted"),
        ],
    )
    def test_device_without_the_attribute_matters_only_when_it_is_reached(self, asked: Object, is_error: bool) -> None:
        scheduler = scheduler_of(*one_node(device("x", {"m": "A"}), device("y")), claim("c", asked))

        found = against(scheduler, claiming("p", "c"))

        assert bool(found and "no such key" in found["a"][0]) is is_error

    def test_error_on_a_node_that_another_filter_refuses_does_not_matter(self) -> None:
        nodes = node_object("a", unschedulable=True), node_object("b")
        world = *nodes, CLASS, slice_of("a", device("x")), slice_of("b", device("x", {"m": "A"}))
        scheduler = scheduler_of(*world, claim("c", request("r", IS_A)))

        assert devices_on(scheduler, claiming("p", "c")) == {"b": ["r=x"]}


ZONE_A = {"key": "zone", "operator": "In", "values": ["a"]}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, [("zone", ["a"])], id="of a zone"),
        pytest.param({"bindsToNode": True}, [("metadata.name", ["a"])], id="bound to the node"),
    ],
)
def test_claim_can_be_used_where_all_of_its_devices_can(fields: Object, expected: list[Any]) -> None:
    zone = slice_of("", device("x"), pool="zone", nodeSelector={"nodeSelectorTerms": [{"matchExpressions": [ZONE_A]}]})
    everywhere = slice_of("", device("y", **fields), pool="all", allNodes=True)
    scheduler = scheduler_of(
        node_object("a", labels={"zone": "a"}), CLASS, zone, everywhere, claim("c", request("r", count=2))
    )

    (allocation,) = on_nodes(scheduler.evaluate(claiming("p", "c"))).answer(0).allocations

    terms = allocation.terms or ()
    assert [(each.key, [*each.values]) for term in terms for each in (*term.expressions, *term.fields)] == expected

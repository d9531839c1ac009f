"""What is said of the devices of resource claims: the first test that each fails, and how many a node has left."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from descheduler.explanation.scheduling.placement import NodeObstacle
from descheduler.explanation.subjects.node.document import NodeDevices
from descheduler.explanation.subjects.node.table import node_table
from descheduler.report.tables.table_style import TableStyle
from tests.builders import Object, node_object, pod_object
from tests.explanation.questions import node_explanation, placement_of, pod_explanation
from tests.placement.plugins.dynamic_resources.worlds import (
    GPU,
    NO_DEVICE_OBJECTS,
    any_of,
    claim,
    claiming_object,
    device,
    device_class,
    request,
    slice_of,
    template,
)

MODEL_A = "device.attributes['gpu.example.com'].model == 'A'"
GUARDED = f"has(device.attributes['gpu.example.com'].model) && {MODEL_A}"
UNHEALTHY = {"key": "unhealthy", "effect": "NoSchedule"}
HALF: Object = {"consumesCounters": [{"counterSet": "card", "counters": {"parts": {"value": "1"}}}]}
WHOLE: Object = {"consumesCounters": [{"counterSet": "card", "counters": {"parts": {"value": "2"}}}]}


def world(*objects: Object) -> list[Object]:
    return [device_class(), *objects, *NO_DEVICE_OBJECTS]


def obstacle(*objects: Object, node: str = "a", pod: str = "new") -> NodeObstacle:
    """What DynamicResources has against a node for the pending pod."""
    (miss,) = [miss for miss in placement_of(pod, *world(*objects)).misses if miss.node == node]
    (found,) = [each for each in miss.obstacles if each.plugin == "DynamicResources"]
    return found


def card(used: str) -> Sequence[Object]:
    """One card of node `a`, whole or in halves, of which a claim has `used`."""
    counters = [{"name": "card", "counters": {"parts": {"value": "2"}}}]
    devices = [device("whole", **WHOLE), device("half-0", **HALF), device("half-1", **HALF)]
    pieces = [slice_of("a", *devices, name="a-devices"), slice_of("a", name="a-counters", sharedCounters=counters)]
    for piece in pieces:
        piece["spec"]["pool"]["resourceSliceCount"] = 2
    del pieces[1]["spec"]["devices"]
    return [*pieces, claim("other", request("r"), devices=[used], consumers=["x"])]


def test_each_device_is_counted_at_the_first_test_that_it_fails() -> None:
    devices = [
        device("busy", {"model": "A"}, taints=[UNHEALTHY]),
        device("other", {"model": "B"}),
        device("other-too", {"model": "B"}, taints=[UNHEALTHY]),
        device("sick", {"model": "A"}, taints=[UNHEALTHY]),
        device("good", {"model": "A"}),
    ]
    taken = claim("taken", request("r"), devices=["busy"], consumers=["x"])

    found = obstacle(
        node_object("a"),
        slice_of("a", *devices),
        taken,
        claim("c", request("r", MODEL_A, count=2)),
        claiming_object("new", "c"),
    )

    assert found.details == (
        f"resource claim c, request r (count: 2): 5 devices: 2 fail selector 1 ({MODEL_A}), 1 is allocated,"
        " 1 is tainted (NoSchedule unhealthy), 1 can be taken",
    )


@pytest.mark.parametrize(
    ("objects", "wanted", "expected"),
    [
        pytest.param(
            [slice_of("a", device("x"))],
            [request("r", "device.driver == 'no'", count=1)],
            "resource claim c, request r (count: 1): 1 device: 1 fails selector 1 (device.driver == 'no')",
            id="selector of the request",
        ),
        pytest.param(
            [],
            [request("r")],
            "resource claim c, request r (count: 1): the node has no devices",
            id="no devices",
        ),
        pytest.param(
            card("half-0"),
            [request("r", count=2)],
            "resource claim c, request r (count: 2): 3 devices: 1 needs more of shared counters than is left,"
            " 1 is allocated, 1 can be taken",
            id="shared counters",
        ),
        pytest.param(
            [slice_of("a", device("x", capacity={"memory": {"value": "8Gi"}}))],
            [request("r", capacity={"requests": {"memory": "9Gi"}})],
            "resource claim c, request r (count: 1): 1 device: 1 has too little capacity",
            id="capacity",
        ),
        pytest.param(
            [slice_of("a", device("x"), device("y"))],
            [request("r", allocationMode="All"), request("s")],
            "each request has enough devices for itself; together they do not fit",
            id="requests that do not fit together",
        ),
        pytest.param(
            [slice_of("a", device("x"))],
            [any_of("r", two=request("", count=2), three=request("", count=3))],
            "resource claim c, request r/two (count: 2): 1 device: 1 can be taken",
            id="alternatives, each for itself",
        ),
    ],
)
def test_request_without_enough_devices_says_why(
    objects: Sequence[Object], wanted: Sequence[Object], expected: str
) -> None:
    found = obstacle(node_object("a"), *objects, claim("c", *wanted), claiming_object("new", "c"))

    assert expected in found.details


def test_incomplete_pool_is_named() -> None:
    piece = slice_of("a", device("x"))
    piece["spec"]["pool"]["resourceSliceCount"] = 2

    found = obstacle(node_object("a"), piece, claim("c", request("r")), claiming_object("new", "c"))

    assert found.details[0] == (f"pool {GPU}/a is incomplete: its driver has not published all ResourceSlices of it")


@pytest.mark.parametrize(
    ("templates", "expected"),
    [
        pytest.param([template("gpus", request("r"))], "ResourceClaimTemplate gpus", id="its template exists"),
        pytest.param([], "ResourceClaimTemplate gpus, which does not exist either", id="its template does not exist"),
    ],
)
def test_pending_pod_names_the_claim_that_does_not_exist_yet_and_who_makes_it(
    templates: Sequence[Object], expected: str
) -> None:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpus"}]
    pending = pod_object("new", node="", phase="Pending", spec={"resourceClaims": claims})

    found = placement_of("new", *world(node_object("a"), *templates, pending))

    assert found.summary == 'not queued for scheduling: pod "default/new": ResourceClaim not created yet'
    assert found.notes == (f"claim gpu does not exist yet: kube-controller-manager creates it from {expected}",)


def test_allocated_claim_names_the_devices_that_pin_the_pod() -> None:
    shared = claim("shared", request("r"), devices=["x"], consumers=["other"])

    found = obstacle(
        node_object("a"),
        node_object("b"),
        slice_of("a", device("x")),
        shared,
        claiming_object("new", "shared"),
        node="b",
    )

    assert found.details == (f"resource claim shared has {GPU}/a/x, which cannot be used from this node",)


def test_error_of_a_selector_is_explained_on_its_node_and_on_all_others() -> None:
    objects = [
        node_object("a"),
        node_object("b"),
        slice_of("a", device("x")),
        slice_of("b", device("x", {"model": "A"})),
        claim("c", request("r", MODEL_A)),
        claiming_object("new", "c"),
    ]

    on_a, on_b = obstacle(*objects), obstacle(*objects, node="b")

    assert (on_a.finality, on_b.finality) == ("error", "unresolvable")
    (reason,) = on_a.reasons
    assert on_b.details == (f"node a: {reason}",)


def test_landing_names_the_devices_that_the_replacement_gets() -> None:
    victim = pod_object("victim", node="a", spec={"resourceClaims": [{"name": "c", "resourceClaimName": "c"}]})
    held = claim("c", request("r", GUARDED), devices=["x"], consumers=[victim["metadata"]["uid"]])

    landing = pod_explanation(
        "victim",
        world(
            node_object("a", unschedulable=True),
            node_object("b"),
            *(slice_of(node, device("w"), device("x", {"model": "A"})) for node in "ab"),
            victim,
            held,
        ),
    ).landing

    assert landing is not None
    assert [(each.plugin, each.kind, each.name) for each in landing.allocations] == [("DynamicResources", GPU, "b/x")]


def test_node_counts_its_devices_by_class_and_driver() -> None:
    objects = world(
        node_object("a"),
        device_class("model-a", GUARDED),
        slice_of("a", device("x", {"model": "A"}), device("y", taints=[UNHEALTHY])),
        slice_of("a", device("n"), driver="net.example.com"),
        claim("c", request("r"), devices=["x"], consumers=["other"]),
    )

    explanation = node_explanation("a", objects)

    figures = {(each.device_class, each.driver): each for each in explanation.facts.devices}
    assert figures["gpu", GPU] == NodeDevices(
        driver=GPU,
        device_class="gpu",
        num_devices=2,
        in_use=1,
        shared=0,
        tainted=1,
        unusable=0,
        free=0,
        planned_free=0,
    )
    assert {key: (each.num_devices, each.free) for key, each in figures.items()} == {
        ("gpu", GPU): (2, 0),
        ("model-a", GPU): (1, 0),
        ("gpu", "net.example.com"): (1, 1),
    }
    table = "\n".join(node_table(explanation, TableStyle()))
    assert "DEVICE CLASS   DRIVER" in table
    assert "UNUSABLE" not in table


def test_part_of_a_card_whose_counters_are_used_up_is_not_free() -> None:
    (figures,) = node_explanation("a", world(node_object("a"), *card("half-0"))).facts.devices

    assert (figures.num_devices, figures.in_use, figures.unusable, figures.free) == (3, 1, 1, 1)

"""Arguments of DynamicResources, and what it says of pods before nodes are looked at."""

from __future__ import annotations

import pytest

from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.plugins.dynamic_resources.plugin import ROW, DynamicResources
from tests.builders import Object, make_pod, node_object
from tests.placement.configuration.kube_scheduler.builders import problems, with_args
from tests.placement.plugins.dynamic_resources.worlds import (
    against,
    claim,
    claiming,
    device,
    device_class,
    devices_on,
    evaluate,
    on_nodes,
    request,
    scheduler_of,
    slice_of,
)

WORLD = (node_object("a"), node_object("b"), device_class())


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        pytest.param("{}", "", id="by default"),
        pytest.param("{filterTimeout: 0s, bindingTimeout: 1s}", "", id="the least"),
        pytest.param("{filterTimeout: -1s}", "filterTimeout: is negative; 0s means no limit", id="less than no time"),
        pytest.param("{bindingTimeout: 999ms}", "bindingTimeout: is below 1s", id="less than a second to bind"),
    ],
)
def test_limits_of_time_are_checked(args: str, problem: str) -> None:
    found = problems(with_args("DynamicResources", args))

    assert [problem in each for each in found] == ([True] if problem else [])


def test_allocated_claim_is_explained_where_it_cannot_be_used() -> None:
    scheduler = scheduler_of(*WORLD, slice_of("a", device("x")), claim("c", request("r"), devices=["x"]))
    evaluation = evaluate(scheduler, claiming("p", "c"))

    assert against(scheduler, claiming("p", "c")) == {"b": ("resourceclaim not available on the node",)}
    assert list(on_nodes(evaluation).why_not(1)) == [
        "resource claim c has gpu.example.com/a/x, which cannot be used from this node"
    ]
    assert list(on_nodes(evaluation).why_not(0)) == []


def test_claims_of_a_class_that_does_not_exist_are_refused() -> None:
    world = node_object("a"), slice_of("a", device("x")), claim("c", request("r"))

    assert not evaluate(scheduler_of(*world), claiming("p", "c")).fits
    assert evaluate(scheduler_of(*world, device_class()), claiming("p", "c")).fits


def test_pod_without_claims_is_left_alone() -> None:
    scheduler = scheduler_of(*WORLD, slice_of("a", device("x")), claim("c", request("r")))

    assert devices_on(scheduler, claiming("p", "c")) == {"a": ["r=x"]}
    assert len(evaluate(scheduler, claiming("q")).nodes) == 2


@pytest.mark.parametrize(
    ("devices", "expression", "sentence"),
    [
        pytest.param([device("x")], "true", "1 device: 1 can be taken", id="too few"),
        pytest.param(
            [device("x"), device("y", taints=[{"key": "bad", "effect": "NoExecute"}])],
            "true",
            "2 devices: 1 can be taken, 1 is tainted (NoExecute bad)",
            id="a taint",
        ),
        pytest.param([device("x"), device("y")], "1 > 2", "2 devices: 2 fail selector 1 (1 > 2)", id="a selector"),
        pytest.param([], "true", "the node has no devices", id="no devices"),
    ],
)
def test_request_with_too_few_devices_is_explained(devices: list[Object], expression: str, sentence: str) -> None:
    world = node_object("a"), device_class(), slice_of("a", *devices), claim("c", request("r", expression, count=2))

    found = list(on_nodes(evaluate(scheduler_of(*world), claiming("p", "c"))).why_not(0))

    assert found == [f"resource claim c, request r (count: 2): {sentence}"]


def test_node_may_open_where_its_devices_would_do_if_none_were_in_use() -> None:
    nodes = [node_object(name) for name in "abcd"]
    slices = [slice_of(name, device("x")) for name in "abc"]
    far = claim("far", request("r"), devices=["x"], node="c")
    in_use = claim("old", request("r"), devices=["x"])
    scheduler = scheduler_of(*nodes, device_class(), *slices, in_use, far, claim("c", request("r")))

    def openable(*claims: str) -> list[bool]:
        plugin = scheduler.filters["DynamicResources"]
        assert isinstance(plugin, DynamicResources)
        return list(map(bool, plugin.may_open(evaluate(scheduler, claiming("p", *claims)).cycle)))

    assert openable("c") == [True, True, True, False]
    assert openable("far") == [False, False, True, False]
    assert openable() == [True, True, True, True]


def test_plugin_explains_what_it_has_found_out() -> None:
    scheduler = scheduler_of(*WORLD, slice_of("a", device("x")), claim("c", request("r")))
    evaluation, plain = evaluate(scheduler, claiming("p", "c")), evaluate(scheduler, claiming("q"))
    obstacle = evaluation.first_obstacle_on(1)
    assert ROW.explain is not None

    told = [list(ROW.explain(RefusedNode(each.cycle, scheduler, 1), obstacle)) for each in (evaluation, plain)]

    assert told == [["resource claim c, request r (count: 1): the node has no devices"], []]


EXTENDED: Object = {"extendedResourceName": "example.com/gpu"}


@pytest.mark.parametrize(
    ("count", "is_openable"),
    [
        pytest.param("1", True, id="as many as there are"),
        pytest.param("2", False, id="more than there are"),
    ],
)
def test_node_may_open_for_extended_resources_that_a_class_serves(count: str, is_openable: bool) -> None:
    old = claim("old", request("r"), devices=["x"])
    world = node_object("a"), device_class(**EXTENDED), slice_of("a", device("x")), old
    scheduler = scheduler_of(*world)
    plugin = scheduler.filters["DynamicResources"]
    assert isinstance(plugin, DynamicResources)
    evaluation = evaluate(scheduler, make_pod("p", node="", requests={"example.com/gpu": count}))

    assert not evaluation.fits
    assert plugin.may_open(evaluation.cycle).tolist() == [is_openable]

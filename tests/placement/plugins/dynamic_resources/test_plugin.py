"""Arguments of DynamicResources, and what it says of pods before nodes are looked at."""

from __future__ import annotations

import pytest

from tests.builders import Object, node_object
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

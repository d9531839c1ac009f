"""What NodeResourcesFit tells about a node that is too full, and what it prefers."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.placement.framework.scheduling_plugin import Preference
from descheduler.placement.plugins.node_resources_fit.plugin import ROW
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster
from tests.placement.configuration.kube_scheduler.builders import load, problems, warnings, with_args
from tests.placement.plugins.explanations import told


def said(pods: list[Pod], *, node: dict[str, Any] | None = None, **facts: Any) -> list[str]:
    """What is told about a node with `pods` that a new pod of these facts does not fit on."""
    return told(ROW, make_cluster([make_node("a", **(node or {}))], pods), make_pod("new", node="", **facts))


@pytest.mark.parametrize(
    ("used", "node", "asked", "sentence"),
    [
        pytest.param(
            {"cpu": "3700m"}, {}, {"cpu": "500m"}, "200m CPU short: requests 500m, 300m of 4 free", id="less than a CPU"
        ),
        pytest.param({"cpu": "3"}, {}, {"cpu": "2"}, "1 CPU short: requests 2, 1 of 4 free", id="whole CPUs"),
        pytest.param({"cpu": "3500m"}, {}, {"cpu": "1"}, "0.5 CPU short: requests 1, 0.5 of 4 free", id="just one CPU"),
        pytest.param({"cpu": "4"}, {}, {"cpu": "4"}, "4 CPU short: requests 4, 0 of 4 free", id="the whole node"),
        pytest.param(
            {"cpu": "4"}, {}, {"cpu": "5"}, "node too small: requests 5 CPU, 4 is allocatable", id="more than the node"
        ),
        pytest.param(
            {"cpu": "5"},
            {},
            {"cpu": "100m"},
            "1100m CPU short: requests 100m, node is over-committed by 1",
            id="an over-committed node",
        ),
        pytest.param(
            {"memory": "7Gi"},
            {},
            {"memory": "2Gi"},
            "1Gi memory short: requests 2Gi, 1Gi of 8Gi free",
            id="memory, of which 2Gi is more than 1000",
        ),
        pytest.param({}, {"pods": "1"}, {}, "maximum pods reached: 1 of 1 pods", id="all places taken"),
        pytest.param({}, {"pods": "0"}, {}, "maximum pods reached: 1 of 0 pods", id="more than all places taken"),
    ],
)
def test_shortage_is_told_in_units_of_the_resource(
    used: dict[str, str], node: dict[str, Any], asked: dict[str, str], sentence: str
) -> None:
    assert said([make_pod("there", **used)], node=node, **asked) == [sentence]


def test_each_resource_that_is_short_is_told() -> None:
    pods = [make_pod("there", cpu="4", memory="8Gi")]

    found = said(pods, cpu="1", memory="1Gi")

    assert [each.partition(":")[0] for each in found] == ["1 CPU short", "1Gi memory short"]


@pytest.mark.parametrize(
    ("pods", "facts", "ending"),
    [
        pytest.param(
            [make_pod("x", cpu="3", deleted=5)],
            {"cpu": "2"},
            "; terminating pod default/x holds 3 until gone",
            id="one",
        ),
        pytest.param(
            [make_pod("x", cpu="3", deleted=5), make_pod("y", deleted=5)],
            {"cpu": "2"},
            "; terminating pod default/x holds 3 until gone",
            id="one and another that holds nothing",
        ),
        pytest.param(
            [make_pod("x", cpu="2", deleted=5), make_pod("y", cpu="1", deleted=5)],
            {"cpu": "2"},
            "; terminating pods default/x, default/y hold 3 until gone",
            id="two",
        ),
        pytest.param([make_pod("x", cpu="3")], {"cpu": "2"}, "", id="none"),
        pytest.param([make_pod("x", cpu="3", deleted=5)], {"cpu": "5"}, "", id="of no help on a node so small"),
        pytest.param(
            [make_pod("x", cpu="3", deleted=5)],
            {"cpu": "4"},
            "; terminating pod default/x holds 3 until gone",
            id="of help on a node of just the size",
        ),
    ],
)
def test_what_terminating_pods_hold_is_told(pods: list[Pod], facts: Any, ending: str) -> None:
    (sentence,) = said(pods, **facts)

    assert sentence.partition("allocatable" if "small" in sentence else "free")[2] == ending


def test_terminating_pods_hold_places() -> None:
    pods = [make_pod("x", deleted=5), make_pod("y", deleted=5), make_pod("z")]

    assert said(pods, node={"pods": "3"}) == [
        "maximum pods reached: 3 of 3 pods; terminating pods default/x, default/y hold 2 until gone"
    ]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        pytest.param("LeastAllocated", Preference(prefers_empty_nodes=True, packing_weights={}), id="empty nodes"),
        pytest.param("MostAllocated", Preference(packing_weights={"cpu": 3}), id="full nodes"),
    ],
)
def test_strategy_says_which_nodes_are_preferred(strategy: str, expected: Preference) -> None:
    scoring = f"{{scoringStrategy: {{type: {strategy}, resources: [{{name: cpu, weight: 3}}]}}}}"
    (profile,) = load(with_args("NodeResourcesFit", scoring)).profiles
    assert ROW.prefers is not None

    assert ROW.prefers(profile) == expected


def test_only_resources_that_are_short_are_told_of_several_extended_ones() -> None:
    devices = {"example.com/x": "2", "example.com/y": "2"}
    pods = [make_pod("there", requests={"example.com/x": "1"})]

    found = said(pods, node={"allocatable": devices}, requests={"example.com/x": "2", "example.com/y": "2"})

    assert found == ["1 example.com/x short: requests 2, 1 of 2 free"]


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        pytest.param("{ignoredResources: [example.com/x]}", "", id="a resource"),
        pytest.param("{ignoredResources: [a b]}", "'a b' is not the name of a resource", id="no resource"),
        pytest.param("{ignoredResourceGroups: [example.com]}", "", id="a group"),
        pytest.param(
            "{ignoredResourceGroups: [example.com/x]}", "is not a group of resources", id="a resource for one"
        ),
        pytest.param("{ignoredResourceGroups: [a b]}", "is not a group of resources", id="no group"),
        pytest.param("{scoringStrategy: {type: RequestedToCapacityRatio}}", "needs a shape", id="no shape"),
        pytest.param(
            "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{score: 1}]}}}",
            "",
            id="a shape",
        ),
    ],
)
def test_arguments_are_checked(args: str, problem: str) -> None:
    found = problems(with_args("NodeResourcesFit", args))

    assert [problem in each for each in found] == ([True] if problem else [])


def test_shape_of_another_strategy_is_warned_about() -> None:
    ratio = "requestedToCapacityRatio: {shape: [{score: 1}]}"

    found = [
        warnings(with_args("NodeResourcesFit", f"{{scoringStrategy: {{type: LeastAllocated{more}}}}}"))
        for more in (f", {ratio}", "")
    ]

    assert [["counts for the strategy RequestedToCapacityRatio only" in each for each in some] for some in found] == [
        [True],
        [],
    ]

"""Which nodes a pod may go to by what no move changes: cordons, taints, selectors and affinity."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.shadow.node_masks import NodeMasks, TaintSets, hard_taints
from tests.builders import make_node, make_pod, required_node_affinity
from tests.placement.clusters import ZONE

NODES = [
    make_node("a", labels={ZONE: "east", "disk": "ssd"}),
    make_node("b", labels={ZONE: "west", "disk": "ssd"}),
    make_node("c", labels={ZONE: "west"}, taints=["gpu:NoSchedule"]),
    make_node("d", taints=["gpu:PreferNoSchedule"]),
    make_node("e", taints=["gpu:NoExecute", "old:NoSchedule"]),
    make_node("f", unschedulable=True),
]


def static(**facts: Any) -> str:
    """The nodes for a pod with these facts, by name."""
    mask = NodeMasks(NODES).static(make_pod("pod", **facts).spec)
    return "".join(node.name for node, is_open in zip(NODES, mask.tolist(), strict=True) if is_open)


def tolerating(*keys: str) -> list[dict[str, str]]:
    return [{"key": key, "operator": "Exists"} for key in keys]


@pytest.mark.parametrize(
    ("facts", "nodes"),
    [
        pytest.param({}, "abd", id="a plain pod"),
        pytest.param({"tolerations": tolerating("gpu")}, "abcd", id="a taint is tolerated"),
        pytest.param({"tolerations": tolerating("gpu", "old")}, "abcde", id="all taints of a node are"),
        pytest.param({"node_selector": {"disk": "ssd"}}, "ab", id="a selector"),
        pytest.param({"node_selector": {"disk": "ssd", ZONE: "west"}}, "b", id="all of a selector"),
        pytest.param({"node_selector": {"disk": "hdd"}}, "", id="a selector that no node meets"),
        pytest.param({"affinity": required_node_affinity(ZONE, "east", "north")}, "a", id="required affinity"),
        pytest.param(
            {"affinity": required_node_affinity(ZONE, "east"), "node_selector": {ZONE: "west"}}, "", id="both"
        ),
        pytest.param({"affinity": {"podAffinity": {}}}, "abd", id="affinity that asks for no node"),
        pytest.param(
            {"affinity": required_node_affinity(ZONE, "west"), "tolerations": tolerating("gpu")}, "bc", id="and taints"
        ),
    ],
)
def test_nodes_that_a_pod_may_go_to(facts: Any, nodes: str) -> None:
    assert static(**facts) == nodes


def by_name(operator: str, *names: str) -> dict[str, Any]:
    term = {"matchFields": [{"key": "metadata.name", "operator": operator, "values": list(names)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


@pytest.mark.parametrize(
    ("affinity", "nodes"),
    [
        pytest.param(by_name("In", "a"), "a", id="a name"),
        pytest.param(by_name("In", "gone"), "", id="the name of no node"),
        pytest.param(by_name("NotIn", "a"), "bd", id="all but a name"),
        pytest.param(by_name("NotIn", "gone"), "abd", id="all but the name of no node"),
    ],
)
def test_nodes_are_named_by_their_fields(affinity: Any, nodes: str) -> None:
    assert static(affinity=affinity) == nodes


def test_terms_are_alternatives_and_one_without_conditions_matches_nothing() -> None:
    east, west = (
        {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]} for zone in ("east", "west")
    )

    def terms(*each: Any) -> str:
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(each)}}
        return static(affinity={"nodeAffinity": required})

    assert terms(east, west) == "ab"
    assert terms({}) == ""
    assert terms({}, east) == "a"


def test_weights_of_preferred_terms_add_up() -> None:
    terms = [
        {"weight": weight, "preference": {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}}
        for key, value, weight in (("disk", "ssd", 5), (ZONE, "west", 7), (ZONE, "gone", 50))
    ]
    affinity = make_pod("pod", affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}})
    assert affinity.spec.affinity is not None

    found = NodeMasks(NODES).terms.weights(affinity.spec.affinity.node_preferred)

    assert found.tolist() == [5, 12, 7, 0, 0, 0]


def test_nodes_with_a_label_and_of_names() -> None:
    masks = NodeMasks(NODES)

    assert masks.has_label("disk").tolist() == [True, True, False, False, False, False]
    assert masks.terms.named(["c", "gone", "a"]).tolist() == [True, False, True, False, False, False]


def test_taints_that_are_not_tolerated_are_counted_by_node() -> None:
    sets = TaintSets([hard_taints(node) for node in NODES])
    some = make_pod("pod", tolerations=tolerating("gpu")).spec.tolerations

    assert sets.num_untolerated(()).tolist() == [0, 0, 1, 0, 2, 0]
    assert sets.num_untolerated(some).tolist() == [0, 0, 0, 0, 1, 0]
    assert TaintSets([]).num_untolerated(()).tolist() == []

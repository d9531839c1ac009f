"""RemovePodsViolatingNodeAffinity: pods whose node no longer suits their node affinity."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.verdict import Reason
from tests.builders import make_node, make_pod, preferred_node_affinity, required_node_affinity
from tests.strategies.runs import evicted, run_plugin

PLUGIN = "RemovePodsViolatingNodeAffinity"
REQUIRED = {"nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]}
PREFERRED = {"nodeAffinityType": ["preferredDuringSchedulingIgnoredDuringExecution"]}
ZONE_1, ZONE_2 = make_node("a", labels={"zone": "1"}), make_node("b", labels={"zone": "2"})
IN_ZONE_2 = required_node_affinity("zone", "2")


@pytest.mark.parametrize(
    ("facts", "nodes", "expected"),
    [
        pytest.param({"affinity": IN_ZONE_2}, [ZONE_1, ZONE_2], True, id="its node is in another zone"),
        pytest.param({"affinity": required_node_affinity("zone", "1")}, [ZONE_1, ZONE_2], False, id="its node suits"),
        pytest.param(
            {"node_selector": {"zone": "2"}}, [ZONE_1, ZONE_2], False, id="a node selector alone is not enough"
        ),
        pytest.param(
            {"affinity": required_node_affinity("zone", "1", "2"), "node_selector": {"zone": "2"}},
            [ZONE_1, ZONE_2],
            True,
            id="but counts with an affinity",
        ),
        pytest.param({"affinity": IN_ZONE_2}, [ZONE_1], False, id="no node fits"),
        pytest.param(
            {"affinity": IN_ZONE_2, "cpu": "3"},
            [ZONE_1, make_node("b", cpu="2", labels={"zone": "2"})],
            False,
            id="no node has room",
        ),
        pytest.param({"affinity": IN_ZONE_2, "phase": "Failed"}, [ZONE_1, ZONE_2], False, id="a finished pod"),
        pytest.param({"affinity": required_node_affinity("zone", "??")}, [ZONE_1, ZONE_2], False, id="a syntax error"),
    ],
)
def test_required_affinity(facts: dict[str, Any], nodes: list[Node], expected: bool) -> None:
    assert (evicted(run_plugin(PLUGIN, nodes, [make_pod("p", **facts)], args=REQUIRED)) == ["p"]) is expected


@pytest.mark.parametrize(
    ("preferences", "nodes", "expected"),
    [
        pytest.param([("zone", "2", 10)], [ZONE_1, ZONE_2], True, id="another node is better"),
        pytest.param([("zone", "1", 10)], [ZONE_1, ZONE_2], False, id="its own is best"),
        pytest.param([("zone", "1", 10), ("zone", "2", 10)], [ZONE_1, ZONE_2], False, id="both are as good"),
        pytest.param([("zone", "1", 10), ("zone", "2", 11)], [ZONE_1, ZONE_2], True, id="weights decide"),
        pytest.param([("zone", "3", 10)], [ZONE_1, ZONE_2], False, id="no node is better"),
        pytest.param(
            [("zone", "2", 10)],
            [ZONE_1, make_node("b", labels={"zone": "2"}, unschedulable=True)],
            True,
            id="the better node need not fit when its own does",
        ),
    ],
)
def test_preferred_affinity(preferences: list[tuple[str, str, int]], nodes: list[Node], expected: bool) -> None:
    pod = make_pod("p", affinity=preferred_node_affinity(*preferences))

    assert (evicted(run_plugin(PLUGIN, nodes, [pod], args=PREFERRED)) == ["p"]) is expected


def test_pod_that_fits_nowhere_is_kept_with_that_reason() -> None:
    nodes = [ZONE_1, make_node("b", labels={"zone": "2"}, cpu="1")]
    pods = [make_pod("p", affinity=IN_ZONE_2, cpu="2")]

    label_gone = run_plugin(PLUGIN, nodes[:1], pods, args=REQUIRED)
    too_small = run_plugin(PLUGIN, nodes, pods, args=REQUIRED)

    assert [(r.pod.name, r.verdict.reason, r.verdict.message) for r in label_gone.refusals] == [
        (
            "p",
            Reason.NO_NODE_FITS,
            "no node that the plugin examines matches the nodeSelector and required node affinity of the pod",
        )
    ]
    assert [r.verdict.message for r in too_small.refusals] == ["the pod fits on no node that the plugin examines"]


def test_nodes_that_are_not_processed_do_not_count() -> None:
    pod = make_pod("p", affinity=IN_ZONE_2)

    assert evicted(run_plugin(PLUGIN, [ZONE_1, ZONE_2], [pod], args=REQUIRED, processed=[ZONE_1])) == []


def test_unknown_type_selects_nothing() -> None:
    args = {"nodeAffinityType": ["requiredAllTheTime"]}

    assert evicted(run_plugin(PLUGIN, [ZONE_1, ZONE_2], [make_pod("p", affinity=IN_ZONE_2)], args=args)) == []


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        pytest.param({"maxNoOfPodsToEvictPerNode": 1}, ["p0", "p2"], id="a full node ends the node"),
        pytest.param({"maxNoOfPodsToEvictTotal": 1}, ["p0"], id="a full run ends the type"),
    ],
)
def test_reaction_to_limits(limits: dict[str, int], expected: list[str]) -> None:
    nodes = [ZONE_1, ZONE_2, make_node("c", labels={"zone": "1"})]
    pods = [make_pod(f"p{n}", node=node, affinity=IN_ZONE_2) for n, node in enumerate("aac")]

    assert evicted(run_plugin(PLUGIN, nodes, pods, args=REQUIRED, policy=limits)) == expected


def test_sentences_name_what_is_wrong() -> None:
    types = {"nodeAffinityType": [*REQUIRED["nodeAffinityType"], *PREFERRED["nodeAffinityType"]]}
    pods = [make_pod("p", affinity=preferred_node_affinity(("zone", "2", 7))), make_pod("q", affinity=IN_ZONE_2)]

    decisions = run_plugin(PLUGIN, [ZONE_1, ZONE_2], pods, args=types)

    assert [(booked.pod.name, booked.reason) for booked in decisions.moves] == [
        ("q", "node a does not match its nodeSelector and required node affinity"),
        ("p", "preferred node affinity has weight 0 on node a, 7 on another node"),
    ]

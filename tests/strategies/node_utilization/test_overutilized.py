"""Why nodes are not relieved, or not of a pod, and whether they would be once its replacement is there."""

from __future__ import annotations

from typing import ClassVar

import pytest

from descheduler.model.pod import Pod
from descheduler.policy.types import Compatibility
from tests.builders import Object, make_pod
from tests.strategies.asked import Asked
from tests.strategies.node_utilization.worlds import pods_on, small_node

FINISHED = "the pod has finished"


class TestUtilization:
    """A node with 9 pods of 10, one with 5 and one with 1."""

    nodes: ClassVar = [small_node(name) for name in ("full", "half", "idle")]
    pods: ClassVar = [*pods_on("full", 9), *pods_on("half", 5), *pods_on("idle", 1)]
    low: ClassVar = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 70}}

    def pod(self, node: str) -> Pod:
        return next(pod for pod in self.pods if pod.node_name == node)

    @pytest.mark.parametrize(
        ("node", "args", "why"),
        [
            pytest.param("full", {}, "node full is overutilized, and other pods are selected", id="a relieved node"),
            pytest.param(
                "half",
                {},
                "node half is not overutilized: CPU requests at 50% (targetThresholds.cpu: 70)",
                id="a node between",
            ),
            pytest.param(
                "full",
                {"numberOfNodes": 1},
                "1 node is underutilized, more than 1 are required (numberOfNodes: 1)",
                id="too few nodes",
            ),
            pytest.param(
                "full",
                {"thresholds": {"cpu": 5}},
                "no node is underutilized: the lowest is idle with CPU requests at 10% (thresholds.cpu: 5)",
                id="no node that takes pods",
            ),
        ],
    )
    def test_low_node_utilization(self, node: str, args: Object, why: str) -> None:
        asked = Asked("LowNodeUtilization", self.nodes, self.pods, args={**self.low, **args})

        assert asked.why_not(self.pod(node)) == why

    def test_low_node_utilization_without_room(self) -> None:
        nodes = [small_node("full"), small_node("idle", pods=2)]
        pods = [*pods_on("full", 9), *pods_on("idle", 1)]

        asked = Asked(
            "LowNodeUtilization", nodes, pods, args={"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 60}}
        )

        assert len(asked.evicted) == 1
        assert (
            asked.why_not(pods[0]) == "node full is overutilized, but the underutilized nodes have no room left: pods"
        )

    @pytest.mark.parametrize(
        ("node", "args", "why"),
        [
            pytest.param("idle", {}, "node idle is underutilized, and other pods are selected", id="an emptied node"),
            pytest.param(
                "half", {}, "node half is not underutilized: CPU requests at 50% (thresholds.cpu: 20)", id="a used node"
            ),
            pytest.param(
                "idle",
                {"numberOfNodes": 1},
                "1 node is underutilized, more than 1 are required (numberOfNodes: 1)",
                id="too few nodes",
            ),
            pytest.param(
                "idle",
                {"thresholds": {"memory": 20}},
                "all 3 nodes are underutilized",
                id="a resource that nobody requests",
            ),
        ],
    )
    def test_high_node_utilization(self, node: str, args: Object, why: str) -> None:
        asked = Asked("HighNodeUtilization", self.nodes, self.pods, args={"thresholds": {"cpu": 20}, **args})

        assert asked.why_not(self.pod(node)) == why

    def test_pod_without_a_request_of_the_resources_that_count(self) -> None:
        pods = [make_pod("none", node="idle", cpu=None), *pods_on("half", 5)]
        args = {"thresholds": {"cpu": 20}, "evictionModes": ["OnlyThresholdingResources"]}

        asked = Asked("HighNodeUtilization", self.nodes[1:], pods, args=args)

        assert asked.why_not(pods[0]) == (
            "requests no resource of thresholds (evictionModes: OnlyThresholdingResources)"
        )

    @pytest.mark.parametrize("plugin", ["LowNodeUtilization", "HighNodeUtilization"])
    def test_pod_that_has_finished(self, plugin: str) -> None:
        done = make_pod("done", node="full", phase="Failed")
        args = self.low if plugin == "LowNodeUtilization" else {"thresholds": {"cpu": 20}}

        assert Asked(plugin, self.nodes, [*self.pods, done], args=args).why_not(done) == FINISHED


LOADED = [*pods_on("full", 9), *pods_on("half", 6), *pods_on("idle", 1)]
UTILIZED = [small_node(name) for name in ("full", "half", "idle")]


@pytest.mark.parametrize(
    ("node", "why"),
    [
        pytest.param(
            "full", "CPU requests are at 90% of allocatable (targetThresholds.cpu: 60)", id="the same node as before"
        ),
        pytest.param(
            "half",
            "CPU requests are at 70% of allocatable (targetThresholds.cpu: 60)",
            id="a node that it makes too full",
        ),
        pytest.param("idle", "", id="a node with room"),
    ],
)
def test_low_node_utilization(node: str, why: str) -> None:
    args = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 60}}

    asked = Asked("LowNodeUtilization", UTILIZED, LOADED, args=args)

    assert asked.selects_again(LOADED[0], node) == why


def test_low_node_utilization_lets_a_node_be_filled_up_to_its_target() -> None:
    args = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 70}}

    assert Asked("LowNodeUtilization", UTILIZED, LOADED, args=args).selects_again(LOADED[0], "half") == ""


@pytest.mark.parametrize(
    ("node", "args", "why"),
    [
        pytest.param(
            "idle", {}, "CPU requests are at 10% of allocatable (thresholds.cpu: 20)", id="the same node as before"
        ),
        pytest.param("half", {}, "", id="a node that is used"),
        pytest.param(
            "idle2",
            {"thresholds": {"cpu": 10, "memory": 50}, "evictionModes": ["OnlyThresholdingResources"]},
            "CPU requests are at 10% of allocatable (thresholds.cpu: 10) and"
            " memory requests are at 0% of allocatable (thresholds.memory: 50)",
            id="an empty node that it fills up to the threshold",
        ),
        pytest.param("idle2", {"thresholds": {"cpu": 5}}, "", id="an empty node that it fills beyond the threshold"),
    ],
)
def test_high_node_utilization(node: str, args: Object, why: str) -> None:
    nodes = [*UTILIZED, small_node("idle2")]

    asked = Asked("HighNodeUtilization", nodes, LOADED, args={"thresholds": {"cpu": 20}, **args})

    assert asked.selects_again(LOADED[-1], node) == why


def test_high_node_utilization_looks_at_pods_with_requests_alone() -> None:
    pods = [make_pod("none", node="idle"), *pods_on("half", 6)]
    args = {"thresholds": {"cpu": 20}, "evictionModes": ["OnlyThresholdingResources"]}

    assert Asked("HighNodeUtilization", UTILIZED, pods, args=args).selects_again(pods[0], "idle") == ""


@pytest.mark.parametrize(
    ("args", "why"),
    [
        pytest.param({}, "", id="pods are selected"),
        pytest.param(
            {"targetThresholds": {"cpu": 90}},
            "no node is overutilized: the highest is full with CPU requests at 90% (targetThresholds.cpu: 90)",
            id="no node is overutilized",
        ),
        pytest.param(
            {"numberOfNodes": 1},
            "1 node is underutilized, more than 1 are required (numberOfNodes: 1)",
            id="too few nodes that take pods",
        ),
    ],
)
def test_facts_say_why_nothing_is_selected(args: Object, why: str) -> None:
    low = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 70}}

    asked = Asked("LowNodeUtilization", UTILIZED, LOADED, args={**low, **args})

    facts = asked.decisions.facts["p", "LowNodeUtilization"]
    assert (facts.why_nothing, bool(facts.pods_selected), bool(asked.evicted)) == (why, not why, not why)
    assert (facts.stopped == "") is (why == "")


def test_facts_say_that_no_pod_can_be_moved() -> None:
    nodes = [small_node("full"), small_node("idle", pods=1)]
    pods = [*pods_on("full", 9), *pods_on("idle", 1)]

    asked = Asked("LowNodeUtilization", nodes, pods, args={"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 60}})

    assert asked.decisions.facts["p", "LowNodeUtilization"].why_nothing == (
        "1 node is overutilized, but the underutilized nodes have no room for more: pods"
    )


@pytest.mark.parametrize(("compatibility", "evicts"), [("fixed", True), ("upstream", False)])
def test_upstream_counts_taints_and_tolerations(compatibility: Compatibility, evicts: bool) -> None:
    nodes = [small_node("full"), small_node("idle", taints=["a:NoSchedule", "b:NoSchedule"])]
    pods = pods_on("full", 9, tolerations=[{"operator": "Exists"}])
    args = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 60}}

    assert bool(Asked("LowNodeUtilization", nodes, pods, args=args, compatibility=compatibility).evicted) is evicts

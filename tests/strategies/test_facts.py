"""What each plugin says when it selects nothing: why, and what came nearest."""

from __future__ import annotations

import pytest

from descheduler.plan.facts import NearestValue, NodeClasses, PluginFacts
from tests.builders import make_pod
from tests.strategies.decided_worlds import LOAD, NODES, World
from tests.strategies.node_utilization.worlds import pods_on, small_node
from tests.strategies.quiet_worlds import QUIET, STRATEGIES
from tests.strategies.runs import run_plugin


@pytest.mark.parametrize(("world", "why"), [pytest.param(*case, id=name) for name, case in QUIET.items()])
def test_a_plugin_that_selects_nothing_says_why(world: World, why: str) -> None:
    assert world.facts().why_nothing == why


def test_every_plugin_that_evicts_has_such_a_case() -> None:
    assert {world.plugin for world, _ in QUIET.values()} == STRATEGIES


@pytest.mark.parametrize("world", [pytest.param(world, id=name) for name, (world, _) in QUIET.items()])
def test_every_pod_examined_is_selected_or_left_out_once(world: World) -> None:
    facts = world.facts()

    assert facts.pods_selected == 0
    assert sum(facts.left_out.values()) == facts.pods_examined


def test_a_selecting_plugin_counts_what_it_selects_and_gives_no_reason_for_nothing() -> None:
    pods = [make_pod("old", age=700), make_pod("young", age=500), make_pod("shop", namespace="shop", age=700)]
    args = {"maxPodLifeTimeSeconds": 600, "namespaces": {"exclude": ["shop"]}}

    decisions = run_plugin("PodLifeTime", NODES, pods, args=args)

    assert decisions.facts["p", "PodLifeTime"] == PluginFacts(
        why_nothing="",
        pods_examined=3,
        pods_selected=1,
        left_out={"namespaces.exclude": 1, "maxPodLifeTimeSeconds": 1},
        nearest=(NearestValue("maxPodLifeTimeSeconds", 600, 700, "seconds", "default/old"),),
    )


def test_nodes_are_counted_by_class_with_the_nearest_value_to_each_threshold() -> None:
    facts = QUIET["no node is overutilized"][0].facts()

    assert facts.nodes == NodeClasses(1, 1, 0, thresholds={"cpu": 20.0}, target_thresholds={"cpu": 70.0})
    assert facts.nearest == (
        NearestValue("thresholds.cpu", 20.0, 0.0, "percent", "n2"),
        NearestValue("targetThresholds.cpu", 70.0, 50.0, "percent", "n1"),
    )


def test_the_nearest_value_is_not_the_extreme_one_when_nodes_lie_on_both_sides_of_a_threshold() -> None:
    nodes = [small_node(name) for name in ("n1", "n2", "n3", "n4")]
    pods = [*pods_on("n1", 9), *pods_on("n2", 8), *pods_on("n3", 1)]
    world = World("LowNodeUtilization", pods, LOAD, nodes)

    assert [(near.value, near.subject) for near in world.facts().nearest] == [(10.0, "n3"), (80.0, "n2")]


def test_pods_that_may_stay_once_their_node_is_relieved_are_not_selected() -> None:
    world = World("LowNodeUtilization", pods_on("n1", 9), LOAD, [small_node("n1"), small_node("n2")])

    facts = world.facts()

    assert (facts.pods_selected, facts.left_out) == (2, {"targetThresholds": 7})


def test_thresholds_that_are_distances_name_the_average() -> None:
    args = {"thresholds": {"cpu": 10}, "targetThresholds": {"cpu": 30}, "useDeviationThresholds": True}
    world = World("LowNodeUtilization", pods_on("n1", 5), args, [small_node("n1"), small_node("n2")])

    assert world.facts().why_nothing == (
        "no node is overutilized: the highest is n1 with CPU requests at 50% "
        "(targetThresholds.cpu: 30 from the average of 25%)"
    )


def test_a_condition_that_ends_a_plugin_is_named_in_upstreams_line() -> None:
    assert QUIET["every node is underutilized"][0].facts().stopped == "All nodes are underutilized, nothing to do here"
    assert QUIET["underutilized nodes have no room"][0].facts().stopped == ""


def test_a_plugin_that_cannot_work_tells_nothing() -> None:
    args = {**LOAD, "metricsUtilization": {"source": "KubernetesMetrics"}}

    decisions = run_plugin("LowNodeUtilization", NODES, [make_pod("p")], args=args)

    assert (len(decisions.failures), decisions.facts) == (1, {})


def test_the_nearest_values_are_those_of_rules_that_have_one() -> None:
    assert [each is None for each in QUIET["pods are too young"][0].facts().nearest] == [False]
    assert QUIET["no pod is in the state"][0].facts().nearest == ()

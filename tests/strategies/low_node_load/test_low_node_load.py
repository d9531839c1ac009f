"""LowNodeLoad: which nodes are relieved of which pods, by the sections of the reference."""

from __future__ import annotations

from typing import Any

import pytest

from tests.strategies.low_node_load.worlds import node, run
from tests.strategies.runs import evicted, refused

PROD = {"prodLowThresholds": {"cpu": 10}, "prodHighThresholds": {"cpu": 40}}
BATCH = {"labels": {"koordinator.sh/priority-class": "koord-batch"}}


def test_pods_leave_an_overutilized_node_until_it_is_below_its_threshold() -> None:
    decisions = run(node("hot", {"a": "2", "b": "2", "c": "2"}), node("cold"))

    assert len(evicted(decisions)) == 1
    assert decisions.moves[0].reason == "node is overutilized, node cpu usage(60.00%)>threshold(50.00%)"


def test_section_5_2_pods_of_a_node_are_measured_by_namespace_and_name() -> None:
    pods = {"a": {"namespace": "shop"}}

    assert evicted(run(node("hot", {"a": "6"}, pods=pods), node("cold"), args={"highThresholds": {"cpu": 60}})) == []
    assert evicted(run(node("hot", {"a": "4"}, system={"cpu": "2"}, pods=pods), node("cold"))) == ["a"]


@pytest.mark.parametrize(("age", "expected"), [(179, ["a"]), (180, []), (None, [])])
def test_section_5_3_node_whose_metric_is_as_old_as_the_limit_is_left_out(age: Any, expected: list[str]) -> None:
    assert evicted(run(node("hot", {"a": "4"}, system={"cpu": "2"}, age=age), node("cold"))) == expected


def test_section_5_3_node_without_a_current_metric_takes_nothing() -> None:
    assert evicted(run(node("hot", {"a": "4"}, system={"cpu": "2"}), node("cold", age=600))) == []


def test_section_5_3_usage_of_the_system_counts_and_not_that_of_the_node() -> None:
    world = node("hot", {"a": "4"}, system={"cpu": "1500m"})

    assert run(world, node("cold")).moves[0].reason.endswith("node cpu usage(55.00%)>threshold(50.00%)")


def test_section_5_4_resource_that_is_not_in_low_thresholds_has_no_effect() -> None:
    args = {"lowThresholds": {"memory": 30}, "highThresholds": {"memory": 60, "cpu": 50}}

    assert evicted(run(node("hot", {"a": "9"}), node("cold"), args=args)) == []


def test_section_5_4_resource_of_the_low_thresholds_alone_is_over_at_any_usage() -> None:
    args = {"lowThresholds": {"cpu": 30, "memory": 30}, "highThresholds": {"cpu": 50}}
    hot = node("hot", usage={"a": {"cpu": "1", "memory": "4G"}})

    decisions = run(hot, node("cold"), args={**args, "nodeFit": False})

    assert evicted(decisions) == []
    assert decisions.facts["p", "LowNodeLoad"].why_nothing == (
        "1 node is overutilized, but the underutilized nodes have no room for more: memory"
    )


def test_section_5_4_thresholds_may_be_distances_from_the_mean() -> None:
    args = {"useDeviationThresholds": True, "lowThresholds": {"cpu": 5}, "highThresholds": {"cpu": 15}}
    cold = [node(f"cold-{number}", system={"cpu": "1"}) for number in range(3)]

    assert evicted(run(node("hot", {"a": "2", "b": "2"}), *cold, args=args)) == ["a"]
    assert evicted(run(node("hot", {"a": "2"}), *cold, args=args)) == []


def test_section_5_4_capacity_is_the_raw_allocatable_of_an_amplified_node() -> None:
    raw = '{"cpu": "5", "memory": "5G"}'

    assert evicted(run(node("hot", {"a": "1", "b": "2"}, raw_allocatable=raw), node("cold"))) == ["a"]
    assert evicted(run(node("hot", {"a": "1", "b": "2"}), node("cold"))) == []


def test_section_5_4_usage_at_the_threshold_is_not_over_it() -> None:
    assert evicted(run(node("hot", {"a": "2", "b": "3"}), node("cold"))) == []


def test_section_5_4_cordoned_node_is_never_underutilized() -> None:
    assert evicted(run(node("hot", {"a": "6"}), node("cold", unschedulable=True))) == []


def test_section_5_5_node_that_is_not_overutilized_takes_prod_pods_alone_without_prod_thresholds() -> None:
    decisions = run(node("hot", {"a": "6"}), node("middle", system={"cpu": "4"}))

    assert evicted(decisions) == []
    assert decisions.facts["p", "LowNodeLoad"].why_nothing == "1 node is overutilized, but no node is underutilized"


def test_section_5_5_prod_pods_leave_a_node_that_has_too_many_of_them() -> None:
    hot = node("hot", {"a": "2", "b": "3", "batch": "1"}, pods={"batch": BATCH})

    decisions = run(hot, node("cold"), args={**PROD, "highThresholds": {"cpu": 70}})

    assert evicted(decisions) == ["a"]
    assert decisions.moves[0].reason == "node is overutilized, prod cpu usage(50.00%)>threshold(40.00%)"


def test_section_5_5_prod_phase_has_what_the_node_phase_leaves() -> None:
    worlds = [
        node("hot", {"a": "3"}, system={"cpu": "4"}),
        node("prod", {"b": "5"}),
        node("cold", system={"cpu": "2500m"}),
    ]
    args = {**PROD, "nodeFit": False}

    assert evicted(run(*worlds, args=args)) == ["a"]
    assert evicted(run(*worlds[1:], args=args)) == ["b"]


def test_section_5_6_more_nodes_than_number_of_nodes_have_to_be_underutilized() -> None:
    worlds = [node("hot", {"a": "6"}), node("cold"), node("cool")]

    assert evicted(run(*worlds, args={"numberOfNodes": 1, "nodeFit": False})) == ["a"]
    assert evicted(run(*worlds, args={"numberOfNodes": 2, "nodeFit": False})) == []


def test_section_5_7_by_default_one_run_is_not_enough() -> None:
    assert evicted(run(node("hot", {"a": "6"}), node("cold"), args={"anomalyCondition": None})) == []


def test_section_5_8_pods_are_taken_in_the_order_of_their_importance() -> None:
    pods: dict[str, Any] = {
        "prod": {"priority": 9500},
        "free": {"priority": 3500},
        "mid": {"priority": 7500},
        "batch": BATCH,
    }
    hot = node("hot", dict.fromkeys(pods, "2"), pods=pods)

    assert evicted(run(hot, node("cold", cpu="100"), args={"highThresholds": {"cpu": 30}})) == ["free", "batch", "mid"]


@pytest.mark.parametrize(
    ("cpus", "first"),
    [
        pytest.param({"large": "5", "exact": "2", "small": "1"}, "exact", id="the one that covers it exactly"),
        pytest.param({"large": "5", "larger": "6"}, "large", id="the smallest one that covers it"),
        pytest.param({"small": "500m", "smaller": "400m", "smallest": "300m"}, "small", id="else the largest one"),
    ],
)
def test_section_5_8_among_equals_the_pod_next_to_the_excess_leaves_first(cpus: dict[str, str], first: str) -> None:
    used = sum(int(cpu[:-1]) if cpu.endswith("m") else int(cpu) * 1000 for cpu in cpus.values())
    high = {"cpu": 50}
    system = {"cpu": f"{7000 - used}m"} if used < 7000 else {"cpu": "0"}
    if used > 7000:
        high = {"cpu": (used - 2000) // 100}
    hot = node("hot", cpus, system=system)

    decisions = run(hot, node("cold", cpu="100"), args={"highThresholds": high, "lowThresholds": {"cpu": 30}})

    assert evicted(decisions)[0] == first


def test_section_5_8_newer_pods_leave_first_in_the_end() -> None:
    pods = {"old": {"age": 7200}, "new": {"age": 60}}

    assert evicted(run(node("hot", {"old": "3", "new": "3"}, pods=pods), node("cold"))) == ["new"]


def test_section_5_8_node_fit_books_targets_in_listing_order_also_for_pods_that_stay() -> None:
    """Pods that were fitted first have the room, whoever leaves first."""
    pods = {"a": {"priority": 9500}, "b": {"priority": 3500}}
    worlds = [node("hot", {"a": "3", "b": "3"}, pods=pods), node("cold", system={"cpu": "2"})]

    decisions = run(*worlds)

    assert evicted(decisions) == ["a"]
    assert refused(decisions) == {"b": "NoNodeFits"}


def test_section_5_8_pod_without_usage_stays_with_node_fit_and_comes_last_without() -> None:
    hot = node("hot", {"a": "2"}, system={"cpu": "4"}, unmeasured=["unknown"])

    assert refused(run(hot, node("cold"))) == {"unknown": "UsageUnknown"}
    assert evicted(run(hot, node("cold"), args={"nodeFit": False, "highThresholds": {"cpu": 35}})) == ["a", "unknown"]


def test_section_5_8_eviction_that_is_refused_makes_room_for_the_next_pod() -> None:
    pods = {"a": {"owners": ["DaemonSet/d"]}}
    decisions = run(node("hot", {"a": "3", "b": "3"}, pods=pods), node("cold"))

    assert evicted(decisions) == ["b"]
    assert refused(decisions) == {"a": "DaemonSet"}


def test_section_5_8_pods_are_a_resource_too() -> None:
    args = {"lowThresholds": {"pods": 20}, "highThresholds": {"pods": 50}, "nodeFit": False}
    hot = node("hot", dict.fromkeys("abcdefg", "100m"), allocatable={"pods": "10"})

    assert len(evicted(run(hot, node("cold", allocatable={"pods": "10"}), args=args))) == 2


def test_pods_that_have_finished_stay_and_their_usage_counts() -> None:
    hot = node("hot", {"done": "4", "a": "2"}, pods={"done": {"phase": "Succeeded"}})

    assert evicted(run(hot, node("cold"))) == ["a"]


def test_dry_run_of_the_plugin_evicts_nothing_and_counts_as_if_it_did() -> None:
    decisions = run(node("hot", {"a": "3", "b": "3"}), node("cold"), args={"dryRun": True, "nodeFit": False})

    assert evicted(decisions) == []
    assert list(refused(decisions).values()) == ["DryRun"]


def test_plugin_that_is_paused_does_nothing() -> None:
    decisions = run(node("hot", {"a": "6"}), node("cold"), args={"paused": True})

    assert decisions.facts["p", "LowNodeLoad"].why_nothing == "the plugin is paused (paused: true)"


def test_section_5_1_pools_have_their_own_thresholds_and_targets() -> None:
    worlds = [
        node("hot", {"a": "2"}, system={"cpu": "2"}, labels={"pool": "x"}),
        node("cold", labels={"pool": "x"}),
        node("other", {"b": "4"}),
        node("idle"),
    ]
    pool = {"nodeSelector": {"matchLabels": {"pool": "x"}}, "highThresholds": {"cpu": 35}, "lowThresholds": {"cpu": 10}}

    assert evicted(run(*worlds)) == []
    assert evicted(run(*worlds, args={"nodePools": [pool]})) == ["a"]


def test_section_5_1_node_that_was_overutilized_in_a_pool_is_in_no_later_one_with_a_selector() -> None:
    hot = node("hot", {"a": "1", "b": "6"}, labels={"pool": "x"})
    everything = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "Exists"}]}
    pool = {"nodeSelector": everything, "highThresholds": {"cpu": 20}, "lowThresholds": {"cpu": 10}}

    assert evicted(run(hot, node("cold", cpu="100"), args={"nodePools": [pool]})) == ["b"]


def test_facts_count_nodes_by_class_and_name_the_nearest_to_each_threshold() -> None:
    facts = run(node("hot", {"a": "6"}), node("cold"), node("middle", system={"cpu": "4"})).facts["p", "LowNodeLoad"]

    assert facts.nodes is not None
    assert (facts.nodes.under, facts.nodes.between, facts.nodes.over) == (1, 1, 1)
    assert facts.nodes.thresholds == {"cpu": 30.0}
    assert facts.nodes.target_thresholds == {"cpu": 50.0}
    assert [(near.key, near.value, near.subject) for near in facts.nearest] == [
        ("lowThresholds.cpu", 40.0, "middle"),
        ("highThresholds.cpu", 60.0, "hot"),
    ]
    assert facts.counts == {"nodesWithoutNodeMetric": 0, "abnormalNodes": 1}


@pytest.mark.parametrize(("used", "expected"), [("4999999999n", ["a"]), ("5000000000n", ["a"]), ("5000000001n", [])])
def test_target_is_filled_up_to_its_threshold_to_the_last_unit(used: str, expected: list[str]) -> None:
    """Half of the 10 cores of node `cold`, which may be in use there."""
    hot = node("hot", {"a": used}, system={"cpu": "1"})

    assert evicted(run(hot, node("cold"))) == expected

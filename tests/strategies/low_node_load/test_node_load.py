"""Loads of nodes beside their thresholds, their classes, and the order in which they are relieved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from descheduler.model.quantity import NANO
from descheduler.policy.shared_args import LabelSelectorArg
from descheduler.strategies.low_node_load.args import LowNodeLoadArgs, LowNodeLoadNodePool
from descheduler.strategies.low_node_load.headroom import Headroom, prod_load, whole_load
from descheduler.strategies.low_node_load.node_load import Load, MeasuredNode, NodeClass, classify
from descheduler.strategies.low_node_load.pools import (
    LoadThresholds,
    StatedThresholds,
    average_percent,
    pools_of,
    resources_of,
    usage_percent,
)
from descheduler.strategies.low_node_load.relief import ReliefPhase, sort_by_load
from tests.builders import make_node, make_pod

CAPACITY = {"cpu": 10 * NANO, "memory": 1000 * NANO}


def load(used: float, low: float = 3, high: float = 5) -> Load:
    """So many cores beside thresholds of 3 and 5."""
    return Load({"cpu": int(used * NANO)}, {"cpu": int(low * NANO)}, {"cpu": int(high * NANO)})


def measured(name: str, whole: Load, prod: Load | None = None, **facts: Any) -> MeasuredNode:
    """A node; without a load of prod pods these have no thresholds."""
    free = Load({"cpu": 0}, {"cpu": 10 * NANO}, {"cpu": 10 * NANO})
    return MeasuredNode(make_node(name, **facts), CAPACITY, whole, free if prod is None else prod, (), (), {})


@pytest.mark.parametrize(
    ("used", "over", "is_under"),
    [
        pytest.param(3, [], True, id="at the low threshold"),
        pytest.param(3.1, [], False, id="above the low threshold"),
        pytest.param(5, [], False, id="at the high threshold"),
        pytest.param(5.1, ["cpu"], False, id="above the high threshold"),
    ],
)
def test_load_is_over_above_its_high_threshold_and_under_up_to_its_low_one(
    used: float, over: list[str], is_under: bool
) -> None:
    found = load(used)

    assert (found.over, found.is_over, found.is_under) == (over, bool(over), is_under)


def test_one_resource_above_is_enough_and_all_have_to_be_below() -> None:
    limits = {"cpu": 5, "memory": 5}
    found = Load({"cpu": 9, "memory": 1}, limits, limits)

    assert (found.over, found.is_over, found.is_under) == (["cpu"], True, False)


PROD_OVER, PROD_LOW, PROD_BETWEEN = load(6), load(1), load(4)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        pytest.param(measured("n", load(6)), NodeClass.HIGH, id="above the high threshold"),
        pytest.param(measured("n", load(6), PROD_OVER), NodeClass.HIGH, id="the node counts before its prod pods"),
        pytest.param(measured("n", load(1)), NodeClass.BOTH_LOW, id="low without thresholds of prod pods"),
        pytest.param(measured("n", load(1), PROD_LOW), NodeClass.BOTH_LOW, id="low in both"),
        pytest.param(measured("n", load(1), PROD_BETWEEN), NodeClass.LOW, id="low as a whole alone"),
        pytest.param(measured("n", load(1), PROD_OVER), NodeClass.PROD_HIGH, id="low, with too many prod pods"),
        pytest.param(measured("n", load(4), PROD_OVER), NodeClass.PROD_HIGH, id="too many prod pods"),
        pytest.param(measured("n", load(4), PROD_LOW), NodeClass.PROD_LOW, id="between, with few prod pods"),
        pytest.param(measured("n", load(4), PROD_BETWEEN), NodeClass.OTHER, id="between in both"),
        pytest.param(measured("n", load(1), unschedulable=True), NodeClass.OTHER, id="low and cordoned"),
        pytest.param(
            measured("n", load(1), PROD_OVER, unschedulable=True),
            NodeClass.PROD_HIGH,
            id="cordoned, with too many prod pods",
        ),
        pytest.param(measured("n", load(6), unschedulable=True), NodeClass.HIGH, id="cordoned and too full"),
    ],
)
def test_class_of_a_node(node: MeasuredNode, expected: NodeClass) -> None:
    assert classify([node]).classes == [expected]


def test_nodes_are_given_class_by_class_and_low_ones_counted() -> None:
    nodes = [measured("h", load(6)), measured("o", load(4), PROD_BETWEEN), measured("l", load(1), PROD_BETWEEN)]
    nodes += [measured("b", load(1)), measured("p", load(4), PROD_LOW), measured("h2", load(7))]
    found = classify(nodes)

    assert [each.node.name for each in found.of(NodeClass.BOTH_LOW, NodeClass.HIGH)] == ["b", "h", "h2"]
    assert found.num_low == 3


def test_headroom_is_what_is_left_below_high_thresholds() -> None:
    nodes = [measured("a", load(1)), measured("b", load(3), load(2, high=3))]

    whole, prod = (Headroom.of(nodes, aspect, ["cpu"]) for aspect in (whole_load, prod_load))

    assert (whole.left, prod.left) == ({"cpu": 6 * NANO}, {"cpu": 11 * NANO})
    assert (whole + prod).left == {"cpu": 17 * NANO}
    assert whole.at_most(prod).left == {"cpu": 6 * NANO}


def test_headroom_ends_with_the_last_of_any_resource() -> None:
    found = Headroom({"cpu": 2 * NANO, "pods": 3 * NANO})

    states = [found.short_of]
    for _ in range(2):
        found.take({"cpu": NANO, "pods": 9 * NANO})
        states.append(found.short_of)

    assert states == [[], [], ["cpu"]]
    assert found.left == {"cpu": 0, "pods": NANO}


@pytest.mark.parametrize(
    ("weights", "names"),
    [
        pytest.param({"cpu": 1}, ["b", "a", "c"], id="by its only resource, ties by name"),
        pytest.param({"cpu": 1, "memory": 9}, ["c", "b", "a"], id="by the resource that weighs more"),
        pytest.param({}, ["a", "b", "c"], id="by name without weights"),
    ],
)
def test_nodes_are_sorted_by_their_weighted_load(weights: Mapping[str, int], names: list[str]) -> None:
    used = {"c": (1, 900), "b": (5, 20), "a": (1, 10)}
    nodes = [
        measured(name, Load({"cpu": cpu * NANO, "memory": memory * NANO}, {}, {}))
        for name, (cpu, memory) in used.items()
    ]

    assert [each.node.name for each in sort_by_load(nodes, whole_load, weights)] == names


def test_load_beyond_the_capacity_counts_as_all_of_it() -> None:
    nodes = [measured("a", load(25)), measured("b", load(10)), measured("c", load(9))]

    assert [each.node.name for each in sort_by_load(nodes, whole_load, {"cpu": 1})] == ["a", "b", "c"]


STATED = StatedThresholds("lowThresholds", "highThresholds", {"cpu": 30.0}, {"cpu": 50.0, "memory": 60.0})


def test_reason_names_what_is_over_in_the_words_of_koordinator() -> None:
    node = measured("n", load(6))
    thresholds = LoadThresholds.of(STATED, ["cpu", "memory"])

    assert ReliefPhase.of_nodes(thresholds).reason(node) == (
        "node is overutilized, node cpu usage(60.00%)>threshold(50.00%)"
    )
    assert not ReliefPhase.of_nodes(thresholds).is_of_prod_pods
    assert ReliefPhase.of_prod_pods(thresholds).is_of_prod_pods


def test_thresholds_without_a_low_one_have_no_effect() -> None:
    found = LoadThresholds.of(STATED, ["cpu", "memory"])

    assert found.low_amounts(CAPACITY) == {"cpu": 3 * NANO, "memory": 1000 * NANO}
    assert found.high_amounts(CAPACITY) == {"cpu": 5 * NANO, "memory": 1000 * NANO}


@pytest.mark.parametrize(
    ("average", "low", "high"),
    [
        pytest.param(50.0, 20.0, 100.0, id="on both sides of the average"),
        pytest.param(20.0, 0.0, 70.0, id="no less than nothing"),
        pytest.param(70.0, 40.0, 100.0, id="no more than all"),
    ],
)
def test_distances_from_the_average_stay_within_the_node(average: float, low: float, high: float) -> None:
    found = LoadThresholds.of(STATED, ["cpu", "memory"], {"cpu": average})

    assert found.effective(found.low, "cpu", sign=-1) == low
    assert found.effective(found.high, "cpu", sign=1) == high
    assert found.high_amounts(CAPACITY) == {"cpu": int(high * NANO / 10), "memory": 1000 * NANO}


def test_usage_in_percent_leaves_out_what_a_node_does_not_have() -> None:
    usage = {"cpu": 5 * NANO, "gpu": NANO}

    assert usage_percent(usage, CAPACITY) == {"cpu": 50.0}
    assert average_percent([(usage, CAPACITY), ({"cpu": NANO}, CAPACITY)]) == {"cpu": 30.0}


def test_pool_has_what_it_states_and_the_rest_of_the_plugin() -> None:
    args = LowNodeLoadArgs(
        high_thresholds={"cpu": 50.0},
        low_thresholds={"gpu": 30.0},
        resource_weights={"cpu": 2},
        node_pools=(LowNodeLoadNodePool("x", resource_weights={}), LowNodeLoadNodePool("y", low_thresholds={})),
    )

    plain, first, second = pools_of(args)

    assert [pool.weights for pool in (plain, first, second)] == [{"cpu": 2}, {}, {"cpu": 2}]
    assert [pool.node.low for pool in (plain, first, second)] == [{"gpu": 30.0}, {"gpu": 30.0}, {}]
    assert resources_of(plain) == ("cpu", "gpu", "memory")
    assert [pool.condition.consecutive_abnormalities for pool in (plain, first)] == [1, 1]


def test_nodes_that_an_earlier_pool_relieved_are_in_pools_without_a_selector_alone() -> None:
    nodes = [make_node("a", labels={"pool": "x"}), make_node("b", labels={"pool": "x"}), make_node("c")]
    args = LowNodeLoadArgs(node_pools=(LowNodeLoadNodePool("x", LabelSelectorArg({"pool": "x"})),))

    everything, selected = pools_of(args)

    assert [node.name for node in everything.members(nodes, frozenset("a"))] == ["a", "b", "c"]
    assert [node.name for node in selected.members(nodes, frozenset("a"))] == ["b"]


def test_usage_of_a_pod_is_known_where_it_was_measured() -> None:
    found = MeasuredNode(make_node("n"), {}, load(1), load(1), (), (), {"default/p": {"cpu": NANO}})

    assert found.usage_of(make_pod("p")) == {"cpu": NANO}
    assert found.usage_of(make_pod("q")) is None

"""What is said of nodes beside thresholds: their classes, their levels, and why nothing is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from descheduler.model.quantity import NANO
from descheduler.plan.facts import NearestValue, NodeClasses, PluginFacts
from descheduler.strategies.node_utilization.census import NodeCensus, Stop, no_census
from descheduler.strategies.node_utilization.classify import NodeLoad, free_resources, sort_by_usage
from descheduler.strategies.node_utilization.eviction import Relief
from descheduler.strategies.node_utilization.levels import Thresholds
from descheduler.strategies.node_utilization.usage import noun_of
from tests.builders import make_node, make_pod

LOW, HIGH = {"cpu": 20.0}, {"cpu": 70.0}


def load(
    name: str, percent: float, *, memory: float | None = None, num_pods: int = 1, cordoned: bool = False
) -> NodeLoad:
    """A node of 10 cores that uses so much of them, and of its memory."""
    percents = {"cpu": percent, **({} if memory is None else {"memory": memory})}
    node = make_node(name, cpu="10", unschedulable=cordoned)
    return NodeLoad(
        node, [make_pod(str(each)) for each in range(num_pods)], {"cpu": int(percent * NANO / 10)}, percents
    )


def noun(resource: str) -> str:
    return noun_of(resource, "requests")


def census(
    *loads: NodeLoad,
    under: Sequence[NodeLoad] = (),
    over: Sequence[NodeLoad] = (),
    low: Mapping[str, float] = LOW,
    high: Mapping[str, float] = HIGH,
) -> NodeCensus:
    return NodeCensus(
        loads, under, over, Thresholds.fixed("thresholds", low), Thresholds.fixed("targetThresholds", high), noun
    )


A, B, C = load("a", 10), load("b", 50), load("c", 80)


@pytest.mark.parametrize(
    ("found", "number", "why"),
    [
        pytest.param(census(A, B, under=[A]), 0, None, id="one is underutilized"),
        pytest.param(
            census(A, B, under=[A]),
            1,
            "1 node is underutilized, more than 1 are required (numberOfNodes: 1)",
            id="one where one is not enough",
        ),
        pytest.param(
            census(A, B, under=[A]),
            2,
            "1 node is underutilized, more than 2 are required (numberOfNodes: 2)",
            id="one where two are not enough",
        ),
        pytest.param(census(A, B, C, under=[A, B]), 1, None, id="two where one is not enough"),
        pytest.param(census(A, B, under=[A, B]), 0, "all 2 nodes are underutilized", id="all are underutilized"),
        pytest.param(
            census(C, B),
            0,
            "no node is underutilized: the lowest is b with CPU requests at 50% (thresholds.cpu: 20)",
            id="none is underutilized",
        ),
        pytest.param(
            census(load("d", 10, cordoned=True), B),
            0,
            "no schedulable node is underutilized: the lowest is b with CPU requests at 50% (thresholds.cpu: 20)",
            id="one is cordoned",
        ),
        pytest.param(
            census(load("d", 30, cordoned=True), B, high={}),
            0,
            "no node is underutilized: the lowest is d with CPU requests at 30% (thresholds.cpu: 20)",
            id="a cordoned one counts where nodes are emptied",
        ),
        pytest.param(
            census(load("d", 10, cordoned=True)),
            0,
            "no schedulable node is underutilized: no node is examined",
            id="all are cordoned",
        ),
        pytest.param(census(), 0, "no node is underutilized: no node is examined", id="no node"),
    ],
)
def test_why_no_underutilized_node_takes_pods(found: NodeCensus, number: int, why: str | None) -> None:
    stop = found.check_under(number)

    assert (None if stop is None else stop.why) == why


def test_why_no_node_is_relieved() -> None:
    none = census(A, B).check_over()

    assert none == Stop(
        "All nodes are under target utilization, nothing to do here",
        "no node is overutilized: the highest is b with CPU requests at 50% (targetThresholds.cpu: 70)",
    )
    assert census(A, C, over=[C]).check_over() is None


def test_sentences_name_the_thresholds_that_decide() -> None:
    busy = load("d", 80, memory=90)
    idle = load("e", 10, memory=5)
    found = census(low={"cpu": 20, "memory": 30}, high={"cpu": 70, "memory": 90})

    assert found.over_sentence(busy) == "CPU requests are at 80% of allocatable (targetThresholds.cpu: 70)"
    assert found.under_sentence(idle) == (
        "CPU requests are at 10% of allocatable (thresholds.cpu: 20) and "
        "memory requests are at 5% of allocatable (thresholds.memory: 30)"
    )


def test_why_a_node_is_in_no_class() -> None:
    found = census(A, B, C, under=[A], over=[C])

    assert [found.why_not_over(name) for name in "abcd"] == [
        "node a is not overutilized: CPU requests at 10% (targetThresholds.cpu: 70)",
        "node b is not overutilized: CPU requests at 50% (targetThresholds.cpu: 70)",
        "",
        "",
    ]
    assert [found.why_not_under(name) for name in "abcd"] == [
        "",
        "node b is not underutilized: CPU requests at 50% (thresholds.cpu: 20)",
        "node c is not underutilized: CPU requests at 80% (thresholds.cpu: 20)",
        "",
    ]


def test_node_without_a_threshold_is_in_no_class_for_no_level() -> None:
    assert census(A, low={}, high={}).why_not_over("a") == "node a is not overutilized"


def test_facts_count_nodes_by_class_and_pods_that_are_left_out() -> None:
    busy = load("c", 80, num_pods=3)
    found = census(A, B, busy, under=[A], over=[busy])

    facts = found.facts(None, why="nothing fits", num_selected=2)

    assert facts == PluginFacts(
        "",
        5,
        2,
        left_out={"targetThresholds": 3},
        nearest=(
            NearestValue("thresholds.cpu", 20.0, 10, "percent", "a"),
            NearestValue("targetThresholds.cpu", 70.0, 80, "percent", "c"),
        ),
        nodes=NodeClasses(1, 1, 1, LOW, HIGH),
    )


def test_facts_of_a_run_that_selects_nothing_say_why() -> None:
    stop = Stop("line", "why")

    assert census(A).facts(None, why="nothing fits").why_nothing == "nothing fits"
    assert (census(A).facts(stop).why_nothing, census(A).facts(stop).stopped) == ("why", "line")
    assert census(A, high={}).facts(stop).left_out == {"thresholds": 1}
    assert census().facts(stop).left_out == {}
    assert no_census().facts(None).nodes == NodeClasses(0, 0, 0, {}, {})


def test_nearest_node_may_lie_on_either_side_of_a_threshold() -> None:
    thresholds = Thresholds.fixed("targetThresholds", {"cpu": 50.0})

    found = [next(thresholds.nearest(loads)).subject for loads in ([A, load("d", 60)], [load("d", 95), load("e", 45)])]

    assert found == ["d", "e"]
    assert list(thresholds.nearest([])) == []


def test_excess_is_that_of_the_resource_furthest_above() -> None:
    thresholds = Thresholds.fixed("thresholds", {"cpu": 50.0, "memory": 10.0})

    assert thresholds.excess(load("d", 60, memory=15)) == 10
    assert thresholds.excess(load("d", 60, memory=25)) == 15
    assert thresholds.excess(load("d", 40)) == -10
    assert Thresholds.fixed("thresholds", {}).excess(A) == 0


def test_thresholds_around_the_average_lie_on_its_two_sides() -> None:
    stated = {"cpu": 10.0}
    low = Thresholds.around_average("thresholds", stated, [A, B], sign=-1)
    high = Thresholds.around_average("targetThresholds", stated, [A, B], sign=1)

    assert (low.percent, high.percent) == ({"cpu": 20.0}, {"cpu": 40.0})
    assert high.words("cpu") == "targetThresholds.cpu: 10 from the average of 30%"


def test_room_of_several_nodes_adds_up_below_their_thresholds() -> None:
    free = free_resources([A, B], {"cpu": 70.0})

    assert free == {"cpu": (7 - 1 + 7 - 5) * NANO}


def test_nodes_are_sorted_by_what_they_use() -> None:
    assert [each.node.name for each in sort_by_usage([B, A, C], ascending=True)] == ["a", "b", "c"]
    assert [each.node.name for each in sort_by_usage([B, A, C], ascending=False)] == ["c", "b", "a"]


@pytest.mark.parametrize(("usage", "is_needed"), [(69, False), (70, False), (71, True)])
def test_node_is_relieved_until_it_is_at_its_ceiling(usage: int, is_needed: bool) -> None:
    relief = Relief(A, "is full", {"cpu": 70, "memory": 70})

    assert relief.is_needed({"cpu": 10, "memory": usage}) is is_needed
    assert Relief(A, "is to be emptied").is_needed({"cpu": 0})

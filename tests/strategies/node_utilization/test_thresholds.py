"""Percentages and thresholds, to the last bit."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from descheduler.model.quantity import NANO, parse_quantity
from descheduler.model.requests import ResourceList
from descheduler.strategies.node_utilization.classify import is_overused, is_underused
from descheduler.strategies.node_utilization.thresholds import (
    average_percent,
    capacity_of,
    ceiling_of,
    shifted_percent,
    usage_percent,
)
from tests.builders import decode_node, make_node, node_object


def quantities(**texts: str) -> ResourceList:
    return {name: parse_quantity(text) for name, text in texts.items()}


@pytest.mark.parametrize(
    ("capacity", "percent", "resource", "expected"),
    [
        pytest.param("100", 29, "memory", "28", id="the double below 29 is cut off"),
        pytest.param("4", 70, "cpu", "2800m", id="cpu is counted in milli"),
        pytest.param("1", 33.3, "cpu", "332m", id="the double below 333 too"),
        pytest.param("10", 100, "pods", "10", id="all of it"),
        pytest.param("1500m", 100, "memory", "2", id="fractions of a unit are rounded up first"),
    ],
)
def test_ceiling_is_cut_off_to_whole_units(capacity: str, percent: float, resource: str, expected: str) -> None:
    ceiling = ceiling_of({resource: parse_quantity(capacity)}, {resource: percent}, resource)

    assert ceiling == parse_quantity(expected)


def test_resource_without_threshold_may_be_used_in_full_and_one_without_capacity_not_at_all() -> None:
    capacity = quantities(cpu="1500m")

    assert ceiling_of(capacity, {}, "cpu") == parse_quantity("1500m")
    assert ceiling_of(capacity, {"gpu": 50}, "gpu") == 0


@pytest.mark.parametrize(
    ("usage", "capacity", "expected"),
    [
        pytest.param({"cpu": "100m"}, {"cpu": "1"}, {"cpu": 10.0}, id="a tenth"),
        pytest.param({"cpu": "1", "gpu": "1"}, {"cpu": "2"}, {"cpu": 50.0}, id="what the node lacks is left out"),
        pytest.param({"cpu": "1"}, {"cpu": "0"}, {"cpu": 0.0}, id="nothing of nothing"),
        pytest.param({"cpu": "3"}, {"cpu": "2"}, {"cpu": 150.0}, id="more than there is"),
    ],
)
def test_usage_in_percent(usage: Mapping[str, str], capacity: Mapping[str, str], expected: Mapping[str, float]) -> None:
    assert usage_percent(quantities(**usage), quantities(**capacity)) == expected


def test_average_is_over_the_nodes_that_have_the_resource() -> None:
    average = average_percent([{"cpu": 10.0}, {"cpu": 20.0, "gpu": 50.0}, {"gpu": 100.0}], ["cpu", "gpu"])

    assert average == {"cpu": 15.0, "gpu": 75.0}


def test_deviation_stays_within_nothing_and_all() -> None:
    average = {"cpu": 30.0, "memory": 2.0, "pods": 98.0}
    distance = {"cpu": 5.0, "memory": 5.0, "pods": 5.0}

    assert shifted_percent(average, distance, sign=-1) == {"cpu": 25.0, "memory": 0.0, "pods": 93.0}
    assert shifted_percent(average, distance, sign=1) == {"cpu": 35.0, "memory": 7.0, "pods": 100.0}


def test_usage_equal_to_a_threshold_is_under_and_not_over() -> None:
    assert is_underused({"cpu": 20.0}, {"cpu": 20})
    assert not is_overused({"cpu": 20.0}, {"cpu": 20})


def test_underused_takes_all_resources_and_overused_one() -> None:
    percent = {"cpu": 10.0, "memory": 90.0}

    assert not is_underused(percent, {"cpu": 20, "memory": 20})
    assert is_overused(percent, {"cpu": 80, "memory": 80})


def test_capacity_counts_while_nothing_is_reported_allocatable() -> None:
    fresh = node_object("a", cpu="2")
    fresh["status"]["allocatable"] = {}

    assert capacity_of(decode_node(fresh))["cpu"] == 2 * NANO
    assert capacity_of(make_node("b", cpu="1"))["cpu"] == NANO

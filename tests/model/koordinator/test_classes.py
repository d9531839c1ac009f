"""Koordinator's priority classes and quality of service of pods, and the costs that their annotations state."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.koordinator.classes import (
    KoordinatorPriority,
    annotated_cost,
    importance,
    is_prod,
    priority_class,
    qos_of,
)
from descheduler.model.koordinator.scheduler_name import scheduler_name_of
from tests.builders import make_pod

CLASS, QOS = "koordinator.sh/priority-class", "koordinator.sh/qosClass"
COST = "scheduling.koordinator.sh/eviction-cost"
FULL = {"cpu": "1", "memory": "1Gi"}


def test_pod_is_prod_by_its_class_alone() -> None:
    assert is_prod(make_pod("prod", cpu="1", priority=9000))
    assert not is_prod(make_pod("mid", cpu="1", priority=7999))


@pytest.mark.parametrize(
    ("priority", "expected"),
    [
        pytest.param(2999, "PROD", id="below all bands, the QoS decides"),
        pytest.param(3000, "FREE", id="the first of free"),
        pytest.param(3999, "FREE", id="the last of free"),
        pytest.param(4000, "PROD", id="between free and batch"),
        pytest.param(5000, "BATCH", id="the first of batch"),
        pytest.param(5999, "BATCH", id="the last of batch"),
        pytest.param(6000, "PROD", id="between batch and mid"),
        pytest.param(7000, "MID", id="the first of mid"),
        pytest.param(8000, "PROD", id="between mid and prod"),
        pytest.param(9999, "PROD", id="the last of prod"),
        pytest.param(0, "PROD", id="zero"),
        pytest.param(None, "PROD", id="none"),
    ],
)
def test_band_of_the_priority_is_the_class(priority: int | None, expected: str) -> None:
    assert priority_class(make_pod("p", cpu="1", priority=priority)) is KoordinatorPriority[expected]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({"labels": {CLASS: "koord-free"}, "priority": 9500}, "FREE", id="the label before the priority"),
        pytest.param({"labels": {CLASS: "gold"}, "priority": 5500}, "PROD", id="an unknown label hides the priority"),
        pytest.param({"labels": {CLASS: "", QOS: "BE"}, "priority": 9500}, "BATCH", id="so does an empty one"),
        pytest.param({"cpu": None}, "BATCH", id="best effort without a class"),
        pytest.param({"labels": {QOS: "BE"}}, "BATCH", id="best effort by its label"),
    ],
)
def test_class_of_a_pod(facts: dict[str, Any], expected: str) -> None:
    assert priority_class(make_pod("p", **{"cpu": "1", **facts})) is KoordinatorPriority[expected]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({}, "BE", id="best effort"),
        pytest.param({"cpu": "1"}, "LS", id="burstable"),
        pytest.param({"requests": FULL, "limits": FULL}, "LSR", id="guaranteed"),
        pytest.param({"labels": {QOS: "LSE"}}, "LSE", id="the label decides"),
        pytest.param({"labels": {QOS: "SYSTEM"}}, "SYSTEM", id="a pod of the system"),
        pytest.param({"labels": {QOS: "BEST"}, "cpu": "1"}, "LS", id="an unknown label does not"),
    ],
)
def test_quality_of_service(facts: dict[str, Any], expected: str) -> None:
    assert qos_of(make_pod("p", **facts)) == expected


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("0", 0),
        ("7", 7),
        ("-7", -7),
        ("2147483647", 2**31 - 1),
        ("2147483648", 0),
        ("-2147483648", -(2**31)),
        ("-2147483649", 0),
        ("07", 0),
        ("+7", 0),
        ("7 ", 0),
        ("", 0),
    ],
)
def test_cost_is_what_kubernetes_reads_as_one(text: str, cost: int) -> None:
    assert annotated_cost(make_pod("p", annotations={COST: text}), COST) == cost


def test_priority_counts_within_a_class() -> None:
    low, high = (importance(make_pod("p", cpu="1", priority=each)) for each in (-1, None))

    assert low < high
    assert high[1] == 0


@pytest.mark.parametrize(
    ("label", "stated", "expected"),
    [
        ("volcano", "koord-scheduler", "volcano"),
        ("", "koord-scheduler", "koord-scheduler"),
        ("", "", "default-scheduler"),
    ],
)
def test_label_names_the_scheduler_before_the_spec(label: str, stated: str, expected: str) -> None:
    pod = make_pod("p", scheduler=stated, labels={"scheduling.koordinator.sh/scheduler-name": label})

    assert scheduler_name_of(pod) == expected

"""NodeMetrics of Koordinator as the API gives them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from descheduler.cluster.decoding.koordinator.node_metric import NodeMetricDecoder, decode_aggregates
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.model.koordinator.node_reports import NODE_METRIC_KIND, NodeMetric, PodMetric
from descheduler.model.quantity import QuantityError
from tests.builders import node_object
from tests.worlds.node_metrics import node_metric_object

GIB = 2**30 * 10**9


def decode(status: Any) -> NodeMetric:
    """A NodeMetric of node `a` with this status."""
    return NodeMetricDecoder().decode(json.dumps({"metadata": {"name": "a"}, "status": status}).encode())


def test_usage_of_the_system_and_of_each_pod_is_read() -> None:
    usage = {"resources": {"cpu": "1500m", "memory": "2Gi"}}
    pods = [{"namespace": "shop", "name": "cart", "podUsage": usage, "priority": "koord-prod", "qos": "LS"}]
    measured = {"nodeUsage": {"resources": {"cpu": "9"}}, "systemUsage": {"resources": {"cpu": 1}}}

    metric = decode({"updateTime": "2026-07-01T11:59:15Z", "nodeMetric": measured, "podsMetric": pods})

    cart = PodMetric("shop", "cart", ("cpu", "memory"), (1500 * 10**6, 2 * GIB), is_prod=True)
    updated_at = datetime(2026, 7, 1, 11, 59, 15, tzinfo=UTC)
    assert metric == NodeMetric("a", updated_at, {"cpu": 10**9}, (cart,), node_usage={"cpu": 9 * 10**9})
    assert metric.pods[0].usage == {"cpu": 1500 * 10**6, "memory": 2 * GIB}
    assert metric.pods[0].key == "shop/cart"


@pytest.mark.parametrize("status", [None, {}, {"nodeMetric": None, "podsMetric": None, "updateTime": None}])
def test_node_that_was_not_measured_has_no_usage(status: Any) -> None:
    assert decode(status) == NodeMetric("a", None, None, ())


def test_zero_time_of_go_is_no_time() -> None:
    assert decode({"updateTime": "0001-01-01T00:00:00Z"}).updated_at is None


def test_pods_share_the_names_of_what_was_measured() -> None:
    pods = {f"shop/p{index}": {"cpu": "1", "memory": f"{index}"} for index in range(2)}

    metric = decode(node_metric_object("a", pods)["status"])

    assert metric.pods[0].resources is metric.pods[1].resources


@pytest.mark.parametrize(
    ("amount", "nano"),
    [("100m", 10**8), ("5e3", 5 * 10**12), (5, 5 * 10**9), (1.5, 15 * 10**8), (None, 0), (" 1 ", 10**9)],
)
def test_amounts_are_read_in_any_spelling(amount: Any, nano: int) -> None:
    measured = {"systemUsage": {"resources": {"cpu": amount}}}

    assert decode({"nodeMetric": measured}).system_usage == {"cpu": nano}


def test_amount_that_is_none_is_refused() -> None:
    with pytest.raises(QuantityError, match="'much' is not a quantity"):
        decode({"nodeMetric": {"systemUsage": {"resources": {"cpu": "much"}}}})


def test_snapshot_holds_them_by_node_where_they_are_asked_for() -> None:
    objects = [node_object("a"), node_metric_object("a", system={"cpu": "1"})]

    snapshot = snapshot_from_objects(objects, SnapshotRequest(needed=frozenset({"Node", "Pod", NODE_METRIC_KIND})))

    assert snapshot.node_metrics["a"].system_usage == {"cpu": 10**9}


def test_interval_of_reports_is_read() -> None:
    policy = {"spec": {"metricCollectPolicy": {"reportIntervalSeconds": 20}}}
    metric = NodeMetricDecoder().decode(json.dumps({**node_metric_object("a"), **policy}).encode())

    assert (metric.report_seconds, decode({}).report_seconds) == (20, 60)


def test_aggregated_usage_is_read_by_kind_and_duration() -> None:
    aggregated = [
        {"duration": "5m0s", "usage": {"p95": {"resources": {"cpu": "2"}}, "avg": {}}},
        {"duration": "10m0s", "usage": {"p95": {"resources": {"cpu": "3"}}}},
    ]

    metric = decode({"nodeMetric": {"aggregatedNodeUsages": aggregated}})

    assert decode_aggregates(metric) == {
        ("p95", timedelta(minutes=5)): {"cpu": 2 * 10**9},
        ("p95", timedelta(minutes=10)): {"cpu": 3 * 10**9},
    }
    assert decode_aggregates(decode({})) == {}


def test_aggregated_usage_that_says_little_is_left_out() -> None:
    aggregated = [{}, {"duration": "1m"}, {"usage": {"avg": {"resources": {"cpu": "1"}}, "p50": {"resources": {}}}}]

    metric = decode({"nodeMetric": {"aggregatedNodeUsages": aggregated}})

    assert decode_aggregates(metric) == {("avg", timedelta(0)): {"cpu": 10**9}}
    assert decode_aggregates(decode({"nodeMetric": {"aggregatedNodeUsages": None}})) == {}


@pytest.mark.parametrize(
    ("spec", "seconds"),
    [
        (None, 60),
        ({"metricCollectPolicy": {}}, 60),
        ({"metricCollectPolicy": {"reportIntervalSeconds": 0}}, 0),
        ({"metricCollectPolicy": {"reportIntervalSeconds": 30}}, 30),
    ],
)
def test_reports_come_every_minute_unless_stated_otherwise(spec: Any, seconds: int) -> None:
    assert NodeMetricDecoder().decode(json.dumps({"spec": spec}).encode()).report_seconds == seconds


def test_pod_that_was_measured_without_anything_used_nothing() -> None:
    measured = {"nodeUsage": None, "systemUsage": {"resources": None}}

    metric = decode({"nodeMetric": measured, "podsMetric": [{"podUsage": {}}, {"priority": "koord-batch"}]})

    assert metric.pods == (PodMetric("", "", (), ()), PodMetric("", "", (), ()))
    assert (metric.node_usage, metric.system_usage, metric.name) == ({}, {}, "a")

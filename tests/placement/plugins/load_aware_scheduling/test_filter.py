"""Nodes above a limit of measured usage take no pod.

Inputs and answers of the first tables are those of koordinator-sh/koordinator 1.8,
`pkg/scheduler/plugins/loadaware/load_aware_test.go`, as far as they do not hang on the pod.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from descheduler.model.koordinator.node_reports import NodeMetric
from descheduler.model.pod import Pod
from descheduler.placement.framework.scheduler_model import DoubtOf
from descheduler.placement.plugins.load_aware_scheduling.filter import LoadAwareScheduling
from tests.builders import make_pod
from tests.placement.clusters import obstacles
from tests.placement.plugins.load_aware_scheduling.worlds import (
    AGENT,
    UNREAD,
    koord_pod,
    large_node,
    load_aware_profile,
    measured,
    measured_cluster,
    scheduler_of,
)

SMALL = make_pod("new", node="", priority=9000)
CPU, MEMORY = "node(s) cpu usage exceed threshold", "node(s) memory usage exceed threshold"
OLD = "node(s) nodeMetric expired"


def refused(
    metric: NodeMetric | None,
    args: Mapping[str, object] | None = None,
    *,
    pod: Pod = SMALL,
    pods: Sequence[Pod] = (),
    thresholds: Mapping[str, object] | None = None,
) -> tuple[str, ...]:
    """Why the only node, which may have thresholds of its own, does not take `pod`."""
    own = {"scheduling.koordinator.sh/usage-thresholds": json.dumps(thresholds)} if thresholds else {}
    cluster = measured_cluster([large_node("n", own)], pods, [] if metric is None else [metric])
    found = obstacles(LoadAwareScheduling, cluster, pod, load_aware_profile(args))
    return found["n"].reasons if found else ()


def used(cpu: str, memory: str, **facts: object) -> NodeMetric:
    return measured(usage={"cpu": cpu, "memory": memory}, **facts)  # type: ignore[arg-type] # each fact has its type


@pytest.mark.parametrize(
    ("metric", "args", "thresholds", "expected"),
    [
        pytest.param(used("60", "256Gi"), {}, None, (), id="usage below both limits"),
        pytest.param(None, {}, None, (), id="a node without a NodeMetric"),
        pytest.param(used("70", "256Gi"), {}, None, (CPU,), id="too much cpu"),
        pytest.param(used("9223372036854775807", "8E"), {}, None, (CPU,), id="more than int64 holds"),
        pytest.param(used("30", "500Gi"), {}, None, (MEMORY,), id="too much memory"),
        pytest.param(used("90", "500Gi"), {}, None, (CPU,), id="the first of several in name order"),
        pytest.param(
            used("30", "316Gi"), {}, {"usageThresholds": {"memory": 60}}, (MEMORY,), id="a threshold of the node"
        ),
        pytest.param(used("30", "500Gi"), {"usageThresholds": {"memory": 0}}, None, (), id="no limit"),
        pytest.param(used("70", "500Gi"), {"usageThresholds": {"cpu": 0, "memory": 0}}, None, (), id="no limit at all"),
        pytest.param(
            used("70", "10Gi"),
            {"usageThresholds": {"cpu": 0, "memory": 0}},
            {"usageThresholds": {"cpu": 50}},
            (CPU,),
            id="none but that of the node",
        ),
        pytest.param(used("30", "1Gi", age=180), {}, None, (OLD,), id="a NodeMetric that is too old"),
        pytest.param(measured(age=None), {}, None, (OLD,), id="a NodeMetric that was never reported"),
        pytest.param(
            used("90", "1Gi", age=180),
            {"enableScheduleWhenNodeMetricsExpired": True},
            None,
            (),
            id="an old one that does not count",
        ),
        pytest.param(
            used("90", "1Gi", age=180), {"filterExpiredNodeMetrics": False}, None, (CPU,), id="an old one that counts"
        ),
    ],
)
def test_node_is_refused_as_by_koord_scheduler(
    metric: NodeMetric | None,
    args: Mapping[str, object],
    thresholds: Mapping[str, object] | None,
    expected: Sequence[str],
) -> None:
    assert refused(metric, args, thresholds=thresholds) == expected


@pytest.mark.parametrize(
    ("cpu", "expected"),
    [
        pytest.param("62.3", (), id="65.2% is 65%"),
        pytest.param("62.7", (CPU,), id="65.6% is 66%"),
    ],
)
def test_percent_is_rounded_with_the_pod_on_the_node(cpu: str, expected: Sequence[str]) -> None:
    assert refused(used(cpu, "1Gi")) == expected


def test_pods_that_just_came_count() -> None:
    assert refused(used("50", "1Gi"), pods=[koord_pod("young", "n", started=0)]) == (CPU,)


def test_pods_of_daemon_sets_pass() -> None:
    assert refused(used("90", "1Gi"), pod=make_pod("new", node="", owners=["DaemonSet/agent"])) == ()


@pytest.mark.parametrize(
    ("priority", "expected"),
    [
        pytest.param(9000, (CPU,), id="prod pods by the usage of such pods"),
        pytest.param(5500, (), id="others by that of the node"),
    ],
)
def test_prod_pods_have_limits_of_their_own(priority: int, expected: Sequence[str]) -> None:
    metric = measured(usage={"cpu": "50"}, pods={"default/web": {"cpu": "40"}}, prod=["default/web"])
    args = {"prodUsageThresholds": {"cpu": 40}}

    pod = make_pod("new", node="", priority=priority)

    assert refused(metric, args, pod=pod, pods=[koord_pod("web", "n")]) == expected


def test_usage_of_prod_pods_leaves_with_them() -> None:
    metric = measured(usage={"cpu": "50"}, pods={"default/web": {"cpu": "40"}}, prod=["default/web"])

    assert refused(metric, {"prodUsageThresholds": {"cpu": 40}}) == ()


@pytest.mark.parametrize(
    ("args", "thresholds"),
    [
        pytest.param(
            {"aggregated": {"usageThresholds": {"cpu": 60}, "usageAggregationType": "p95"}}, None, id="of all"
        ),
        pytest.param(
            {},
            {
                "aggregatedUsage": {
                    "usageThresholds": {"cpu": 60},
                    "usageAggregationType": "p95",
                    "usageAggregatedDuration": "5m0s",
                }
            },
            id="of the node",
        ),
    ],
)
def test_percentiles_of_usage_have_limits(args: Mapping[str, object], thresholds: Mapping[str, object] | None) -> None:
    aggregated = [{"duration": "5m0s", "usage": {"p95": {"resources": {"cpu": "70"}}}}]
    metric = measured(usage={"cpu": "1"}, aggregated=aggregated)

    assert refused(metric, args, thresholds=thresholds) == ("node(s) cpu aggregated usage exceed threshold",)


def test_usage_of_a_pod_that_is_gone_counts_until_the_next_report() -> None:
    old = koord_pod("old", "n", started=3600)
    metric = measured(usage={"cpu": "70"}, pods={"default/old": {"cpu": "40"}})
    cluster = measured_cluster([large_node()], [old], [metric])
    scheduler = scheduler_of(cluster)

    cluster.remove(old)
    evaluation = scheduler.evaluate(SMALL)

    assert not evaluation.fits
    assert scheduler.openable(evaluation).tolist() == [True]


def test_landing_is_in_doubt_where_no_node_metrics_were_read() -> None:
    unread = measured_cluster([large_node()], [AGENT], kinds=UNREAD)
    no_limit = {"usageThresholds": {"cpu": 0}}

    assert scheduler_of(unread).doubt(SMALL).startswith("NodeMetrics of Koordinator were not read")
    assert scheduler_of(unread, no_limit).doubt(SMALL) == ""
    assert scheduler_of(unread, no_limit).doubt(SMALL, DoubtOf.CHOICE).startswith("NodeMetrics of Koordinator were not")
    assert scheduler_of(measured_cluster([large_node()])).doubt(SMALL) == ""

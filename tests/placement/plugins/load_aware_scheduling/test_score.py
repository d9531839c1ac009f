"""Nodes are scored by what they use and by what pods are taken to use that came since.

Inputs and scores of the first table are those of koordinator-sh/koordinator 1.8,
`pkg/scheduler/plugins/loadaware/load_aware_test.go`: one node of 96 CPU and 512 GiB. The one with a limit above the
request follows the rule of `estimator/default_estimator.go` there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from descheduler.model.koordinator.node_reports import NodeMetric
from descheduler.model.pod import Pod
from descheduler.placement.framework.evaluation import Choice
from descheduler.placement.plugins.load_aware_scheduling.plugin import LoadAwareSchedulingScore
from tests.builders import NOW, ago, make_node, make_pod
from tests.placement.clusters import scores
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

BUSY = {"cpu": "32", "memory": "10Gi"}
BATCH = {"kubernetes.io/batch-cpu": "16000", "kubernetes.io/batch-memory": "32Gi"}


def scored(
    pod: Pod,
    metric: NodeMetric | None,
    pods: Sequence[Pod] = (),
    args: Mapping[str, object] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> int:
    """The score of the only node."""
    cluster = measured_cluster([large_node("n", annotations)], pods, [] if metric is None else [metric])
    found = scores(LoadAwareSchedulingScore, cluster, pod, profile=load_aware_profile(args))
    return 0 if found is None else found[1][0]


@pytest.mark.parametrize(
    ("pod", "metric", "pods", "expected"),
    [
        pytest.param(koord_pod(), None, [], 0, id="a node without a NodeMetric"),
        pytest.param(koord_pod(), measured(age=180), [], 0, id="a NodeMetric that is too old"),
        pytest.param(koord_pod(), measured(age=None), [], 0, id="a NodeMetric that was never reported"),
        pytest.param(koord_pod(), measured(), [], 90, id="an idle node"),
        pytest.param(koord_pod(), measured(usage=BUSY), [], 72, id="a busy node"),
        pytest.param(
            koord_pod(), measured(usage=BUSY), [koord_pod("other", "n", started=0)], 63, id="a pod that just came"
        ),
        pytest.param(
            koord_pod(),
            measured(usage=BUSY, age=10),
            [koord_pod("other", "n", started=0)],
            63,
            id="a pod that came after the report",
        ),
        pytest.param(
            koord_pod(),
            measured(usage=BUSY),
            [koord_pod("other", "n", started=10)],
            63,
            id="a pod that came shortly before the report",
        ),
        pytest.param(
            make_pod("new", node="", priority=5000, requests=BATCH, limits=BATCH), measured(), [], 90, id="a batch pod"
        ),
        pytest.param(
            make_pod("new", node="", requests={"cpu": "8", "memory": "16Gi"}, limits={"cpu": "16", "memory": "32Gi"}),
            measured(),
            [],
            90,
            id="a limit above the request",
        ),
        pytest.param(make_pod("new", node=""), measured(), [], 99, id="a pod that requests nothing"),
    ],
)
def test_score_is_that_of_koord_scheduler(pod: Pod, metric: NodeMetric | None, pods: list[Pod], expected: int) -> None:
    assert scored(pod, metric, pods) == expected


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({"resourceWeights": {"cpu": 1}}, 52, id="one resource"),
        pytest.param({"resourceWeights": {"cpu": 3, "memory": 1}}, 62, id="weights"),
        pytest.param({"dominantResourceWeight": 2}, 62, id="the one of which the least is left"),
        pytest.param({"estimatedScalingFactors": {"cpu": 100, "memory": 100}}, 70, id="other factors"),
        pytest.param({"nodeMetricExpirationSeconds": 30}, 0, id="an expiration"),
    ],
)
def test_arguments_decide_what_is_scored(args: Mapping[str, object], expected: int) -> None:
    assert scored(koord_pod(), measured(usage=BUSY, age=40), args=args) == expected


def test_measured_pod_counts_with_what_it_uses() -> None:
    old = koord_pod("other", "n", started=3600)

    assert scored(koord_pod(), measured(usage=BUSY, pods={"default/other": {"cpu": "1"}}), [old]) == 72


def test_measured_pod_that_just_came_counts_with_the_larger_of_estimate_and_usage() -> None:
    young = koord_pod("other", "n", started=10)
    used = measured(usage=BUSY, pods={"default/other": {"cpu": "13", "memory": "40Gi"}})

    assert scored(koord_pod(), used, [young]) == 72  # 0.6 CPU beyond what was measured


def test_time_since_a_pod_was_scheduled_is_that_of_its_condition() -> None:
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": ago(10)}
    pod = koord_pod("other", "n", started=3600, conditions=[scheduled])

    assert scored(koord_pod(), measured(usage=BUSY, pods={"default/other": {"cpu": "1"}}), [pod]) == 64


def test_report_interval_says_how_long_pods_are_estimated() -> None:
    pod = koord_pod("other", "n", started=100)
    used = {"default/other": {"cpu": "1"}}

    assert scored(koord_pod(), measured(usage=BUSY, pods=used, report_seconds=120), [pod]) == 64
    assert scored(koord_pod(), measured(usage=BUSY, pods=used, report_seconds=90), [pod]) == 72


@pytest.mark.parametrize(
    ("args", "annotations", "expected"),
    [
        pytest.param({}, {}, 72, id="measured long enough"),
        pytest.param({"estimatedSecondsAfterPodScheduled": 600}, {}, 64, id="after it was scheduled"),
        pytest.param({"estimatedSecondsAfterPodScheduled": 200}, {}, 72, id="that time is over"),
        pytest.param(
            {"estimatedSecondsAfterPodScheduled": 600, "estimatedSecondsAfterInitialized": 200},
            {},
            72,
            id="after it was initialized, which counts first",
        ),
        pytest.param(
            {"allowCustomizeEstimation": True},
            {"scheduling.koordinator.sh/load-estimated-seconds-after-pod-scheduled": "600"},
            64,
            id="as the pod says",
        ),
        pytest.param(
            {}, {"scheduling.koordinator.sh/load-estimated-seconds-after-pod-scheduled": "600"}, 72, id="if it may"
        ),
    ],
)
def test_pods_are_estimated_for_as_long_as_is_said(
    args: Mapping[str, object], annotations: Mapping[str, str], expected: int
) -> None:
    initialized = {"type": "Initialized", "status": "True", "lastTransitionTime": ago(300)}
    pod = koord_pod("other", "n", started=300, annotations=annotations, conditions=[initialized])

    assert scored(koord_pod(), measured(usage=BUSY, pods={"default/other": {"cpu": "1"}}), [pod], args) == expected


def test_factors_of_the_pod_count_before_those_of_the_arguments() -> None:
    pod = koord_pod(annotations={"scheduling.koordinator.sh/load-estimated-scaling-factors": '{"cpu": 10}'})

    assert scored(pod, measured(usage=BUSY), args={"allowCustomizeEstimation": True}) == 79
    assert scored(pod, measured(usage=BUSY)) == 72


def test_capacity_is_that_before_amplification() -> None:
    raw = {"node.koordinator.sh/raw-allocatable": '{"cpu": "48"}'}

    assert scored(koord_pod(), measured(usage=BUSY), annotations=raw) == 49


@pytest.mark.parametrize(
    ("aggregated", "expected"),
    [
        pytest.param([], 72, id="nothing aggregated reads the usage"),
        pytest.param(
            [
                {"duration": "5m", "usage": {"p95": {"resources": {"cpu": "50"}}}},
                {"duration": "10m", "usage": {"p95": {"resources": {"cpu": "64"}}}},
            ],
            57,
            id="the longest time",
        ),
    ],
)
def test_percentile_is_scored_in_place_of_the_usage(aggregated: list[Mapping[str, object]], expected: int) -> None:
    args = {"aggregated": {"scoreAggregationType": "p95"}}

    assert scored(koord_pod(), measured(usage=BUSY, aggregated=aggregated), args=args) == expected


def test_percentile_that_a_node_lacks_is_what_its_pods_are_estimated_to_use() -> None:
    args = {"aggregated": {"scoreAggregationType": "p95", "scoreAggregatedDuration": "1h"}}
    pods = [koord_pod("other", "n", started=3600)]

    assert scored(koord_pod(), measured(usage={"cpu": "90"}), pods, args) == 81


def test_prod_pods_can_be_scored_by_the_usage_of_such_pods() -> None:
    args = {"scoreAccordingProdUsage": True}
    used = {"default/web": {"cpu": "32", "memory": "10Gi"}, "default/batch": {"cpu": "40"}}
    metric = measured(usage={"cpu": "80"}, pods=used, prod=["default/web"])
    pods = [koord_pod("web", "n"), koord_pod("batch", "n", priority=5500)]

    assert scored(koord_pod(), metric, pods, args) == 72
    assert scored(koord_pod(priority=5500), metric, pods, args) == 57


def chosen(pods: Sequence[Pod], metrics: Sequence[NodeMetric], gone: Pod | None = None) -> Choice:
    """The choice between nodes `a` and `b`, after `gone` has left."""
    cluster = measured_cluster([large_node("a"), large_node("b")], pods, metrics)
    scheduler = scheduler_of(cluster)
    if gone is not None:
        cluster.remove(gone)
    choice = scheduler.choose(scheduler.evaluate(koord_pod()))
    assert choice is not None
    return choice


@pytest.mark.parametrize(
    ("usage", "used", "expected"),
    [
        pytest.param("20", "4", ((1,), False), id="the node that it left stays the fuller one"),
        pytest.param("30", "20", ((1, 0), True), id="the report may make it the emptier one"),
        pytest.param("2", "1", ((0,), False), id="it is the emptier one before and after"),
    ],
)
def test_node_that_a_pod_left_is_scored_before_and_after_the_next_report(
    usage: str, used: str, expected: tuple[tuple[int, ...], bool]
) -> None:
    old = koord_pod("old", "a", started=3600)
    left = measured("a", usage={"cpu": usage}, pods={"default/old": {"cpu": used}})

    choice = chosen([old], [left, measured("b", usage={"cpu": "12"})], gone=old)

    assert (choice.ties, choice.is_open) == expected


def test_pod_that_was_placed_counts_with_its_estimate() -> None:
    metrics = [measured("a"), measured("b", usage={"cpu": "9"})]
    cluster = measured_cluster([large_node("a"), large_node("b")], [], metrics)
    scheduler = scheduler_of(cluster)
    with cluster.what_if():
        scheduler.place(scheduler.evaluate(koord_pod("first")), 0)
        second = scheduler.choose(scheduler.evaluate(koord_pod("second")))
    again = scheduler.choose(scheduler.evaluate(koord_pod("second")))

    assert second is not None
    assert again is not None
    assert (second.node, again.node) == (1, 0)


def test_choice_is_open_where_no_node_metrics_were_read() -> None:
    cluster = measured_cluster([large_node("a"), large_node("b")], [AGENT], kinds=UNREAD)
    scheduler = scheduler_of(cluster)

    choice = scheduler.choose(scheduler.evaluate(koord_pod()))

    assert choice is not None
    assert sorted(choice.ties) == [0, 1]
    assert choice.cause == (
        "NodeMetrics of Koordinator were not read, so the measured usage of nodes is unknown (LoadAwareScheduling)"
    )


@pytest.mark.parametrize(
    ("batch", "pods", "is_open"),
    [
        pytest.param("0", [], False, id="nothing is measured without the agent"),
        pytest.param("1000", [], True, id="batch resources are made of what is measured"),
        pytest.param("0", [AGENT], True, id="the agent runs"),
    ],
)
def test_node_metrics_are_missed_where_the_agent_measures(batch: str, pods: list[Pod], is_open: bool) -> None:
    nodes = [make_node(name, allocatable={"kubernetes.io/batch-cpu": batch}) for name in ("a", "b")]
    scheduler = scheduler_of(measured_cluster(nodes, pods, kinds=UNREAD))

    choice = scheduler.choose(scheduler.evaluate(make_pod("new", node="", scheduler="koord-scheduler")))

    assert choice is not None
    assert choice.is_open is is_open


def test_what_a_what_if_changes_is_taken_back() -> None:
    old = koord_pod("old", "n", started=10)
    cluster = measured_cluster([large_node()], [old], [measured(usage=BUSY, pods={"default/old": {"cpu": "1"}})])
    scheduler_of(cluster)
    before = cluster.digest()

    with cluster.what_if():
        cluster.remove(old)
        cluster.add(koord_pod("new"), 0)
        assert cluster.digest() != before

    assert cluster.digest() == before
    assert cluster.snapshot.taken_at == NOW

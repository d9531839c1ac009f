"""Arguments of LoadAwareScheduling, what it tells of a node, and when what is measured is missed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from descheduler.model.koordinator.node_reports import NodeMetric
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import Unread
from descheduler.placement.plugins.load_aware_scheduling.args import LoadAwareSchedulingArgs
from descheduler.placement.plugins.load_aware_scheduling.plugin import ROW
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.configuration.kube_scheduler.builders import args_with, problems, with_args
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

PROD = make_pod("new", node="", priority=9000, scheduler="koord-scheduler")
BATCH = make_pod("new", node="", priority=5500, scheduler="koord-scheduler")


def refused(
    metric: NodeMetric,
    args: Mapping[str, object] | None = None,
    *,
    pod: Pod = PROD,
    own: Mapping[str, object] | str | None = None,
) -> tuple[str, list[str]]:
    """Why the only node, which may have thresholds of its `own`, does not take `pod`, and what is told of that."""
    text = own if isinstance(own, str) else json.dumps(own)
    annotations = {} if own is None else {"scheduling.koordinator.sh/usage-thresholds": text}
    scheduler = scheduler_of(measured_cluster([large_node("n", annotations)], [], [metric]), args)
    evaluation = scheduler.evaluate(pod)
    if evaluation.fits:
        return "", []
    assert ROW.explain is not None
    obstacle = evaluation.first_obstacle_on(0)
    return obstacle.reasons[0], list(ROW.explain(RefusedNode(evaluation.cycle, scheduler, 0), obstacle))


def over(name: str, *, aggregated: bool = False) -> str:
    """The reason of a resource above its threshold."""
    return f"node(s) {name}{' aggregated' if aggregated else ''} usage exceed threshold"


def test_explanation_has_each_resource_above_its_threshold() -> None:
    metric = measured(usage={"cpu": "90", "memory": "500Gi"})

    assert refused(metric) == (
        over("cpu"),
        [
            "measured cpu usage would be 94% with the pod (threshold: 65)",
            "measured memory usage would be 98% with the pod (threshold: 95)",
        ],
    )


def test_explanation_passes_over_a_resource_just_at_its_threshold() -> None:
    """With the pod it is 94.96 % of the memory, which counts as 95."""
    _, told = refused(measured(usage={"cpu": "90", "memory": "486Gi"}))

    assert told == ["measured cpu usage would be 94% with the pod (threshold: 65)"]


def test_usage_of_an_old_report_is_not_told() -> None:
    assert refused(measured(usage={"cpu": "90"}, age=999)) == ("node(s) nodeMetric expired", [])


def test_explanation_is_about_the_node_that_is_asked_about() -> None:
    metrics = [measured("a", usage={"cpu": "70"}), measured("b", usage={"cpu": "80", "memory": "1Gi"})]
    own = {"scheduling.koordinator.sh/usage-thresholds": '{"usageThresholds": {"cpu": 50}}'}
    scheduler = scheduler_of(measured_cluster([large_node("a"), large_node("b", own)], [], metrics))
    evaluation = scheduler.evaluate(PROD)
    assert ROW.explain is not None

    told = [
        list(ROW.explain(RefusedNode(evaluation.cycle, scheduler, node), evaluation.first_obstacle_on(node)))
        for node in (0, 1)
    ]

    assert told == [
        ["measured cpu usage would be 73% with the pod (threshold: 65)"],
        ["measured cpu usage would be 84% with the pod (threshold: 50)"],
    ]


@pytest.mark.parametrize(
    ("cpu", "is_above"),
    [pytest.param("62.62", False, id="just at the threshold"), pytest.param("62.63", True, id="above it")],
)
def test_usage_at_the_threshold_is_not_above_it(cpu: str, is_above: bool) -> None:
    """With 0.25 CPU of the pod it is 65.5 % of 96, which counts as 66, or a little less."""
    reason, told = refused(measured(usage={"cpu": cpu}))

    assert (bool(reason), bool(told)) == (is_above, is_above)


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        pytest.param(PROD, "node(s) nodeMetric expired", id="a pod of class prod"),
        pytest.param(BATCH, "", id="another pod, which no limit concerns"),
    ],
)
def test_old_report_closes_a_node_to_the_pods_that_a_limit_concerns(pod: Pod, reason: str) -> None:
    args = {"usageThresholds": {"cpu": 0, "memory": 0}, "prodUsageThresholds": {"cpu": 40}}

    assert refused(measured(age=999), args, pod=pod)[0] == reason


AGGREGATED = {"usageThresholds": {"cpu": 60}, "usageAggregationType": "p95"}
_P95 = [{"duration": "5m", "usage": {"p95": {"resources": {"cpu": "70"}}}}]


@pytest.mark.parametrize(
    ("own", "args", "reason"),
    [
        pytest.param({"aggregatedUsage": AGGREGATED}, {}, over("cpu", aggregated=True), id="a percentile"),
        pytest.param({"aggregatedUsage": {**AGGREGATED, "usageThresholds": {}}}, {}, "", id="no threshold for it"),
        pytest.param({"aggregatedUsage": {"usageThresholds": {"cpu": 60}}}, {}, "", id="no percentile for it"),
        pytest.param(
            {"aggregatedUsage": {**AGGREGATED, "usageAggregatedDuration": "1h"}}, {}, "", id="a time not measured"
        ),
        pytest.param(
            {"aggregatedUsage": {**AGGREGATED, "usageAggregatedDuration": "long"}, "usageThresholds": {"cpu": 1}},
            {},
            "",
            id="a time that cannot be read leaves all out",
        ),
        pytest.param({"usageThresholds": {"cpu": 5}}, {}, over("cpu"), id="the usage"),
        pytest.param(
            {"usageThresholds": {"cpu": 5}},
            {"aggregated": {**AGGREGATED, "usageThresholds": {"cpu": 80}}},
            "",
            id="the usage, where the arguments speak of a percentile",
        ),
        pytest.param({"prodUsageThresholds": {"cpu": 1}}, {}, over("cpu"), id="the usage of prod pods"),
        pytest.param({}, {"usageThresholds": {"cpu": 5}}, over("cpu"), id="nothing"),
        pytest.param("{", {"usageThresholds": {"cpu": 5}}, over("cpu"), id="what cannot be read"),
    ],
)
def test_thresholds_of_a_node_count_before_those_of_the_arguments(
    own: Mapping[str, object] | str, args: Mapping[str, object], reason: str
) -> None:
    metric = measured(usage={"cpu": "10"}, aggregated=_P95)
    prod = "prodUsageThresholds" in str(own)
    pod = koord_pod(priority=9000) if prod else BATCH

    assert refused(metric, args, pod=pod, own=own)[0] == reason


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        pytest.param({"nodeMetricExpirationSeconds": 1}, "", id="a second"),
        pytest.param({"nodeMetricExpirationSeconds": 0}, "nodeMetricExpirationSeconds: is 0", id="no time"),
        pytest.param({"nodeMetricExpirationSeconds": 2**31 - 1}, "", id="the longest time"),
        pytest.param({"nodeMetricExpirationSeconds": 2**31}, "nodeMetricExpirationSeconds: is", id="a longer one"),
        pytest.param({"dominantResourceWeight": 0}, "", id="no weight"),
        pytest.param({"dominantResourceWeight": -1}, "-1 is not between 0 and 100", id="a weight below 0"),
        pytest.param({"dominantResourceWeight": 101}, "101 is not between 0 and 100", id="a weight above 100"),
        pytest.param({"resourceWeights": {"cpu": 100}}, "", id="the largest weight"),
        pytest.param({"resourceWeights": {"cpu": 0}}, "0 is not between 1 and 100", id="a resource of no weight"),
        pytest.param({"resourceWeights": {"x/y": 1}}, "has no x/y, which resourceWeights names", id="no factor"),
        pytest.param(
            {"resourceWeights": {"x/y": 1}, "estimatedScalingFactors": {"x/y": 1}},
            "",
            id="a factor of another resource",
        ),
        pytest.param({"usageThresholds": {"cpu": 101}}, "usageThresholds.cpu: 101 is not", id="a threshold above 100"),
        pytest.param({"prodUsageThresholds": {"cpu": -1}}, "prodUsageThresholds.cpu: -1 is not", id="one below 0"),
        pytest.param({"aggregated": {"usageAggregationType": "p91"}}, "'p91' is not one of", id="no percentile"),
        pytest.param(
            {"aggregated": {"usageAggregatedDuration": "-1s"}}, "usageAggregatedDuration: -1s is below 0", id="below 0"
        ),
        pytest.param({"aggregated": {"scoreAggregatedDuration": "0s"}}, "", id="no time named"),
        pytest.param({"aggregated": {"scoreAggregatedDuration": "x"}}, "scoreAggregatedDuration", id="no duration"),
    ],
)
def test_arguments_are_checked(args: Mapping[str, object], problem: str) -> None:
    found = problems(with_args("LoadAwareScheduling", json.dumps(args)))

    assert [problem in each for each in found] == ([True] if problem else [])


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({}, (True, True, False, None), id="by default"),
        pytest.param({"filterExpiredNodeMetrics": False}, (False, True, False, None), id="old reports count"),
        pytest.param(
            {"enableScheduleWhenNodeMetricsExpired": True}, (True, False, False, None), id="they close no node"
        ),
        pytest.param({"scoreAccordingProdUsage": True}, (True, True, True, None), id="prod pods by such pods"),
        pytest.param({"scoreAccordingProdUsage": False}, (True, True, False, None), id="not so"),
        pytest.param({"aggregated": AGGREGATED}, (True, True, False, "p95"), id="thresholds of a percentile"),
        pytest.param({"aggregated": {"usageAggregationType": "p95"}}, (True, True, False, None), id="no thresholds"),
        pytest.param(
            {"aggregated": {"usageThresholds": {"cpu": 60}}}, (True, True, False, None), id="no percentile for them"
        ),
    ],
)
def test_arguments_are_read(args: Mapping[str, object], expected: tuple[Any, ...]) -> None:
    read = args_with("LoadAwareScheduling", json.dumps(args)).of(LoadAwareSchedulingArgs)

    percentile = read.limits.percentile
    assert (read.expires, read.refuses_expired, read.scores_prod, percentile and percentile.kind) == expected


def profile_of(*, filters: bool, weight: int, limits: bool) -> SchedulerProfile:
    """A profile that runs the plugin as a filter, with limits or none, or as a score of this weight."""
    thresholds: Mapping[str, object] = {} if limits else {"usageThresholds": {"cpu": 0, "memory": 0}}
    profile = load_aware_profile(thresholds)
    return SchedulerProfile(
        scheduler_name="koord-scheduler",
        filters=profile.filters if filters else ("NodeName",),
        scores=(("LoadAwareScheduling", weight), ("NodeAffinity", 1)),
        args=profile.args,
    )


@pytest.mark.parametrize(
    ("facts", "landing", "choice"),
    [
        pytest.param({"filters": True, "weight": 1, "limits": True}, True, True, id="filter and score"),
        pytest.param({"filters": True, "weight": 0, "limits": True}, True, False, id="the filter alone"),
        pytest.param({"filters": False, "weight": 1, "limits": True}, False, True, id="the score alone"),
        pytest.param({"filters": True, "weight": 1, "limits": False}, False, True, id="a filter without limits"),
        pytest.param({"filters": False, "weight": 0, "limits": True}, False, False, id="neither"),
    ],
)
def test_what_was_not_measured_is_missed_by_whom_it_concerns(facts: Any, landing: bool, choice: bool) -> None:
    snapshot = make_snapshot([large_node()], [AGENT], kinds=UNREAD)
    assert ROW.unread is not None

    found = ROW.unread(profile_of(**facts), snapshot)

    assert (bool(found.landing), bool(found.choice)) == (landing, choice)


@pytest.mark.parametrize(
    ("pods", "batch", "kinds", "is_missed"),
    [
        pytest.param([AGENT], None, UNREAD, True, id="the agent runs"),
        pytest.param([make_pod("koordlet-a")], None, UNREAD, False, id="no DaemonSet has the pod"),
        pytest.param([make_pod("x", owners=["DaemonSet/other"])], None, UNREAD, False, id="another DaemonSet"),
        pytest.param([make_pod("x", owners=["ReplicaSet/koordlet"])], None, UNREAD, False, id="no DaemonSet"),
        pytest.param([], "1000", UNREAD, True, id="nodes have batch resources"),
        pytest.param([], "0", UNREAD, False, id="nodes have none of them"),
        pytest.param([AGENT], None, frozenset({*UNREAD, "NodeMetric.slo.koordinator.sh"}), False, id="they were read"),
        pytest.param([AGENT], None, frozenset[str](), False, id="a snapshot made by hand"),
    ],
)
def test_node_metrics_are_missed_where_somebody_measures(
    pods: Sequence[Pod], batch: str | None, kinds: frozenset[str], is_missed: bool
) -> None:
    node = make_node("a", allocatable={} if batch is None else {"kubernetes.io/batch-cpu": batch})
    assert ROW.unread is not None

    found = ROW.unread(load_aware_profile(), make_snapshot([node], pods, kinds=kinds))

    assert (found != Unread()) is is_missed


def test_scores_before_and_after_the_next_report_differ_by_what_gone_pods_used() -> None:
    old = koord_pod("old", "n", started=3600)
    cluster = measured_cluster(
        [large_node()], [old], [measured(usage={"cpu": "48"}, pods={"default/old": {"cpu": "24"}})]
    )
    scheduler = scheduler_of(cluster)
    cluster.remove(old)

    evaluation = scheduler.evaluate(PROD)

    assert evaluation.fits
    assert ROW.score is not None
    ranges = ROW.score(cluster, load_aware_profile()).ranges(evaluation.cycle)  # type: ignore[attr-defined]
    assert [np.asarray(each).tolist() for each in ranges] == [[0], [74], [86]]


@pytest.mark.parametrize("number", [15, 20])
def test_node_is_closed_by_one_of_many_resources(number: int) -> None:
    """Beyond the first ones it is told that the usage is too high, and not exactly of what."""
    names = [f"example.com/r{index:02}" for index in range(number)]
    node = make_node("n", allocatable=dict.fromkeys(names, "100"))
    metric = measured(usage={"cpu": "1", names[-1]: "90"})
    args = {"usageThresholds": dict.fromkeys(names, 50)}

    evaluation = scheduler_of(measured_cluster([node], [], [metric]), args).evaluate(PROD)

    (reason,) = evaluation.first_obstacle_on(0).reasons
    assert reason.endswith(" usage exceed threshold")
    assert "aggregated" not in reason

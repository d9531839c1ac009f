"""What nodes use, what pods are taken to use that came since, and whose usage leaves with them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from descheduler.model.koordinator.node_reports import NodeMetric
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.plugins.load_aware_scheduling.args import LoadAwareSchedulingArgs, Percentile, PodEstimates
from descheduler.placement.plugins.load_aware_scheduling.node_loads import PROD, WHOLE, LoadsOf, NodeLoads, resources_of
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import ago, make_pod
from tests.placement.plugins.load_aware_scheduling.worlds import (
    koord_pod,
    large_node,
    load_aware_profile,
    measured,
    measured_cluster,
)

_SCHEDULED = "scheduling.koordinator.sh/load-estimated-seconds-after-pod-scheduled"
_INITIALIZED = "scheduling.koordinator.sh/load-estimated-seconds-after-initialized"
_CPU, _ESTIMATE = 0, 13_600
"""Row of cpu, and 85 % of the 16 CPUs that pods here request, in thousandths."""


def args_of(profile: SchedulerProfile) -> LoadAwareSchedulingArgs:
    """Its arguments."""
    return profile.args.of(LoadAwareSchedulingArgs)


def loads_of(cluster: ShadowCluster, args: Mapping[str, object] | None = None) -> NodeLoads:
    """The loads of a cluster by these arguments."""
    read = args_of(load_aware_profile(args))
    return cluster.follow(LoadsOf(read, resources_of(read)))


def cpu_used(loads: NodeLoads, usage: Any = WHOLE) -> int:
    """The cpu that the first node uses, in thousandths."""
    return int(loads.used(usage, np.array([0], dtype=np.intp))[_CPU, 0])


def one_node(pods: Sequence[Pod] = (), args: Mapping[str, object] | None = None, /, **metric: Any) -> NodeLoads:
    """The loads of one node with this NodeMetric and these pods."""
    return loads_of(measured_cluster([large_node()], pods, [measured(**metric)]), args)


def is_estimated(pod: Pod, args: Mapping[str, object] | None = None, **metric: Any) -> bool:
    """Whether a pod of which one CPU is measured counts with more than that."""
    metric = {"usage": {"cpu": "1"}, "pods": {"default/x": {"cpu": "1"}}, **metric}
    used = cpu_used(one_node([pod], args, **metric))
    assert used in (1000, _ESTIMATE)
    return used == _ESTIMATE


@pytest.mark.parametrize(
    ("args", "started", "expected"),
    [
        pytest.param({}, 60, False, id="as old as the time between reports"),
        pytest.param({}, 59, True, id="younger"),
        pytest.param({"estimatedSecondsAfterPodScheduled": 300}, 300, False, id="that time is just over"),
        pytest.param({"estimatedSecondsAfterPodScheduled": 301}, 300, True, id="that time is not over"),
        pytest.param({"estimatedSecondsAfterPodScheduled": 0}, 300, False, id="no such time"),
    ],
)
def test_measured_pod_is_estimated_for_a_while(args: Mapping[str, object], started: int, expected: bool) -> None:
    assert is_estimated(koord_pod("x", "n", started=started), args) is expected


@pytest.mark.parametrize(
    ("seconds", "initialized", "expected"),
    [
        pytest.param(0, 300, True, id="no such time, so that after scheduling counts"),
        pytest.param(200, 300, False, id="it counts first"),
        pytest.param(301, 300, True, id="it is not over"),
        pytest.param(300, 300, False, id="it is just over"),
        pytest.param(200, None, True, id="not initialized, so that after scheduling counts"),
    ],
)
def test_time_after_initialization_counts_before_that_after_scheduling(
    seconds: int, initialized: int | None, expected: bool
) -> None:
    args = {"estimatedSecondsAfterPodScheduled": 600, "estimatedSecondsAfterInitialized": seconds}
    since = {"type": "Initialized", "status": "True", "lastTransitionTime": ago(initialized or 0)}
    pod = koord_pod("x", "n", started=300, conditions=[] if initialized is None else [since])

    assert is_estimated(pod, args) is expected


def test_condition_that_is_not_true_says_nothing() -> None:
    args = {"estimatedSecondsAfterPodScheduled": 200, "estimatedSecondsAfterInitialized": 600}
    since = {"type": "Initialized", "status": "False", "lastTransitionTime": ago(300)}

    assert not is_estimated(koord_pod("x", "n", started=300, conditions=[since]), args)


def test_start_stands_for_initialization_where_conditions_were_not_kept() -> None:
    args = {"estimatedSecondsAfterInitialized": 400}
    pod = msgspec.structs.replace(koord_pod("x", "n", started=300), conditions=None)

    assert is_estimated(pod, args)
    assert not is_estimated(koord_pod("x", "n", started=300), args)


@pytest.mark.parametrize(
    ("text", "otherwise", "expected"),
    [
        pytest.param("600", 200, True, id="longer"),
        pytest.param("200", 600, False, id="shorter"),
        pytest.param("0", 600, False, id="not at all"),
        pytest.param("-1", 600, True, id="less than nothing"),
        pytest.param("ten", 600, True, id="no number"),
        pytest.param("2147483647", 200, True, id="the largest number"),
        pytest.param("2147483648", 200, False, id="a number that is too large"),
    ],
)
@pytest.mark.parametrize("key", [_SCHEDULED, _INITIALIZED], ids=["scheduled", "initialized"])
def test_annotation_says_how_long_its_pod_is_estimated(key: str, text: str, otherwise: int, expected: bool) -> None:
    name = "estimatedSecondsAfterPodScheduled" if key == _SCHEDULED else "estimatedSecondsAfterInitialized"
    since = {"type": "Initialized", "status": "True", "lastTransitionTime": ago(300)}
    pod = koord_pod("x", "n", started=300, conditions=[since], annotations={key: text})

    assert is_estimated(pod, {name: otherwise, "allowCustomizeEstimation": True}) is expected
    assert is_estimated(pod, {name: otherwise}) is (otherwise > 300)


def test_pod_whose_start_is_not_told_just_came() -> None:
    assert is_estimated(koord_pod("x", "n", started=None))


def test_node_that_never_reported_estimates_every_pod() -> None:
    assert is_estimated(koord_pod("x", "n", started=3600), age=None)


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(koord_pod("x", "n", started=0), _ESTIMATE, id="a pod that just came"),
        pytest.param(koord_pod("x", "gone", started=0), 0, id="a pod of no node"),
        pytest.param(
            msgspec.structs.replace(
                koord_pod("x", "n", started=0), annotations={"scheduling.koordinator.sh/reserve-pod": "true"}
            ),
            0,
            id="what stands for a Reservation",
        ),
    ],
)
def test_pod_that_was_not_measured_counts_with_its_estimate(pod: Pod, expected: int) -> None:
    assert cpu_used(one_node([pod])) == expected


def test_pod_that_is_placed_is_not_the_measured_one_of_its_name() -> None:
    cluster = measured_cluster([large_node()], [], [measured(usage={"cpu": "1"}, pods={"default/x": {"cpu": "1"}})])
    loads = loads_of(cluster)

    with cluster.what_if():
        cluster.add(koord_pod("x"), 0)
        during = cpu_used(loads)

    assert (during, cpu_used(loads)) == (1000 + _ESTIMATE, 1000)


@pytest.mark.parametrize(
    ("metric", "is_measured", "is_current"),
    [
        pytest.param(None, False, False, id="none"),
        pytest.param(measured(age=179), True, True, id="not too old"),
        pytest.param(measured(age=180), True, False, id="too old"),
        pytest.param(measured(age=None), True, False, id="never reported"),
    ],
)
def test_node_metric_counts_until_it_is_too_old(metric: NodeMetric | None, is_measured: bool, is_current: bool) -> None:
    loads = loads_of(measured_cluster([large_node()], [], [] if metric is None else [metric]))

    assert (loads.is_measured.tolist(), loads.is_current.tolist()) == ([is_measured], [is_current])


def test_every_report_is_current_where_the_time_is_not_told() -> None:
    cluster = measured_cluster([large_node()], [], [measured(age=9999)], taken_at=None)

    assert loads_of(cluster).is_current.tolist() == [True]


def test_usage_of_pods_that_are_gone_is_left_out_by_the_next_report() -> None:
    pods = [koord_pod(name, "n", started=3600) for name in ("x", "y", "z")]
    metric = measured(usage={"cpu": "9"}, pods={"default/x": {"cpu": "4"}, "default/y": {"cpu": "2"}})
    cluster = measured_cluster([large_node()], pods, [metric])
    loads = loads_of(cluster)
    seen = [(loads.nodes_left.tolist(), int(loads.left[_CPU, 0]))]

    with cluster.what_if():
        for pod in pods:
            cluster.remove(pod)
            seen.append((loads.nodes_left.tolist(), int(loads.left[_CPU, 0])))
    seen.append((loads.nodes_left.tolist(), int(loads.left[_CPU, 0])))

    assert seen == [([], 0), ([0], 4000), ([0], 6000), ([0], 6000), ([], 0)]
    assert cpu_used(loads) == 9000 + _ESTIMATE


def test_pod_that_comes_back_while_another_is_gone_gives_back_its_own_usage() -> None:
    pods = [koord_pod(name, "n", started=3600) for name in ("x", "y")]
    metric = measured(usage={"cpu": "9"}, pods={"default/x": {"cpu": "4"}, "default/y": {"cpu": "2"}})
    cluster = measured_cluster([large_node()], pods, [metric])
    loads = loads_of(cluster)
    cluster.remove(pods[0])

    with cluster.what_if():
        cluster.remove(pods[1])

    assert int(loads.left[_CPU, 0]) == 4000


@pytest.mark.parametrize(
    ("pod", "prod", "expected"),
    [
        pytest.param(koord_pod("x", "n", started=3600), ["default/x"], 4000, id="measured as one"),
        pytest.param(koord_pod("x", "n", started=3600), [], _ESTIMATE, id="measured as another"),
        pytest.param(koord_pod("x", "n", started=0), ["default/x"], _ESTIMATE, id="one that just came"),
        pytest.param(koord_pod("x", "n", started=3600, priority=5500), ["default/x"], 0, id="a pod of another class"),
        pytest.param(koord_pod("y", "n", started=3600), ["default/x"], _ESTIMATE, id="one that was not measured"),
    ],
)
def test_usage_of_prod_pods_is_that_of_pods_of_this_class(pod: Pod, prod: Sequence[str], expected: int) -> None:
    args = {"scoreAccordingProdUsage": True}

    loads = one_node([pod], args, usage={"cpu": "9"}, pods={"default/x": {"cpu": "4"}}, prod=prod)

    assert cpu_used(loads, PROD) == expected


def test_usage_of_the_system_counts_with_that_of_prod_pods_where_it_is_to() -> None:
    args = {"scoreAccordingProdUsage": True}

    assert cpu_used(one_node([], {**args, "prodUsageIncludeSys": True}), PROD) == 1000
    assert cpu_used(one_node([], args), PROD) == 0


_P95 = [
    {"duration": "5m", "usage": {"p95": {"resources": {"cpu": "50"}}, "p50": {"resources": {"cpu": "20"}}}},
    {"duration": "10m", "usage": {"p95": {"resources": {"cpu": "64"}}}},
]


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [
        pytest.param({"scoreAggregationType": "p95"}, 64_000, id="the longest time"),
        pytest.param({"scoreAggregationType": "p95", "scoreAggregatedDuration": "5m"}, 50_000, id="the time named"),
        pytest.param({"scoreAggregationType": "p50"}, 20_000, id="another percentile"),
        pytest.param({"scoreAggregationType": "p99"}, 9000, id="a percentile that is not there"),
        pytest.param({"scoreAggregationType": "p95", "scoreAggregatedDuration": "1h"}, _ESTIMATE, id="no such time"),
    ],
)
def test_percentile_stands_for_the_usage(aggregation: Mapping[str, str], expected: int) -> None:
    args = {"aggregated": aggregation}
    read = args_of(load_aware_profile(args))
    assert isinstance(read.scored, Percentile)
    pod = koord_pod("x", "n", started=3600)

    loads = one_node([pod], args, usage={"cpu": "9"}, pods={"default/x": {"cpu": "4"}}, aggregated=_P95)

    assert cpu_used(loads, read.scored) == expected


def test_pods_that_just_came_are_added_to_a_percentile() -> None:
    args = {"aggregated": {"scoreAggregationType": "p95"}}

    loads = one_node([koord_pod("new", "n", started=0)], args, usage={"cpu": "9"}, aggregated=_P95)

    assert cpu_used(loads, args_of(load_aware_profile(args)).scored) == 64_000 + _ESTIMATE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('{"cpu": "48"}', 48_000, id="fewer"),
        pytest.param('{"memory": "1Gi"}', 96_000, id="nothing of cpu"),
        pytest.param("[", 96_000, id="what cannot be read"),
    ],
)
def test_capacity_is_what_a_node_had_before_it_was_amplified(text: str, expected: int) -> None:
    node = large_node("n", {"node.koordinator.sh/raw-allocatable": text})

    assert int(loads_of(measured_cluster([node])).capacity[_CPU, 0]) == expected


BATCH = {"kubernetes.io/batch-cpu": "16000", "kubernetes.io/batch-memory": "100"}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({"requests": {"cpu": "10"}}, 8500, id="its request without a limit"),
        pytest.param({"requests": {"cpu": "10"}, "limits": {"cpu": "20"}}, 17_000, id="its limit"),
        pytest.param({"requests": {"cpu": "1m"}}, 1, id="half is rounded up"),
        pytest.param({}, 250, id="nothing asked for"),
        pytest.param({"requests": BATCH, "priority": 5500}, 13_600, id="batch resources"),
        pytest.param({"priority": 5500}, 250, id="nothing asked for of batch resources"),
        pytest.param({"priority": 7500}, 0, id="nothing asked for of mid resources"),
        pytest.param({"requests": BATCH, "priority": 9000}, 250, id="batch resources of another class"),
    ],
)
def test_pod_is_estimated_by_what_it_asks_for(facts: dict[str, Any], expected: int) -> None:
    args = LoadAwareSchedulingArgs()

    estimate = PodEstimates(args, resources_of(args)).of(make_pod("p", **facts))

    assert estimate[_CPU] == expected


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        pytest.param({"cpu": 200}, 10_000, id="no more than the limit"),
        pytest.param({"cpu": 50}, 5000, id="a share of it"),
        pytest.param({"memory": 1}, 8500, id="another resource"),
        pytest.param("cpu", 8500, id="what cannot be read"),
    ],
)
def test_factors_of_a_pod_count_before_those_of_the_arguments(factors: object, expected: int) -> None:
    key = "scheduling.koordinator.sh/load-estimated-scaling-factors"
    args = LoadAwareSchedulingArgs(customizes=True)
    pod = make_pod("p", requests={"cpu": "10"}, limits={"cpu": "10"})

    pod = msgspec.structs.replace(pod, annotations={key: json.dumps(factors)})

    assert PodEstimates(args, resources_of(args)).of(pod)[_CPU] == expected

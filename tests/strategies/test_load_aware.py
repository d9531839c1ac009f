"""LoadAware: which nodes are relieved, of which pods, in which order, and when it stops (volcano.md §12, §13.7)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.evaluation import Evaluation
from descheduler.policy.load import load_policy
from descheduler.strategies.load_aware import LoadAwareArgs, samples
from descheduler.strategies.node_utilization.sampled_usage import LoadMetrics
from tests.builders import Object, pod_object
from tests.strategies.measured import big_node, measured_node, measured_pod, run_measured
from tests.strategies.runs import policy_with

EIGHTY = {"thresholds": {"cpu": 30}, "targetThresholds": {"cpu": 80}}
NODES = [big_node("full"), big_node("low1"), big_node("low2")]
LOADS = [measured_node("full", "13600m"), measured_node("low1", "3200m"), measured_node("low2", "3200m")]


def on_full(name: str, cpu: str, memory: str = "0", **facts: Any) -> list[Object]:
    """A pod on the overutilized node, and what it uses."""
    return [pod_object(name, node="full", owners=["ReplicaSet/r"], **facts), measured_pod(name, cpu, memory)]


THREE = [*on_full("p10", "1"), *on_full("p04", "400m"), *on_full("p05", "500m")]


def run(objects: Sequence[Object], args: Object | None = None, **facts: Any) -> Evaluation:
    return run_measured("LoadAware", objects, {**EIGHTY, **(args or {})}, **facts)


def evicted(result: Evaluation) -> list[str]:
    assert not result.failures
    return [each.name for each in result.evictions]


def test_node_is_relieved_of_what_uses_most_until_it_is_below() -> None:
    """volcano.md §13.7: 13.6 cores; 12.6 after the first pod is above 12.4, 12.1 after the second is not."""
    result = run([*NODES, *LOADS, *THREE])

    assert evicted(result) == ["p10", "p05"]
    assert result.evictions[0].reason == "CPU usage is at 87.7% of allocatable (targetThresholds.cpu: 80)"


def test_room_of_low_nodes_ends_it() -> None:
    """One low node has 12.4 - 11.5 = 0.9 cores left, none once a pod of 1 core has come."""
    loads = [measured_node("full", "15500m"), measured_node("low1", "11500m")]

    result = run([*NODES[:2], *loads, *THREE], {"thresholds": {"cpu": 75}})

    assert evicted(result) == ["p10"]


def test_room_is_the_sum_over_low_nodes_and_usage_comes_off_it() -> None:
    """volcano.md §13.7: 2 x (12.4 - 3.2) = 18.4 cores, and 12.2, 6 and none after pods of 6.2 cores."""
    loads = [measured_node("full", "40"), *LOADS[1:]]
    pods = [each for name in ("p1", "p2", "p3", "p4") for each in on_full(name, "6200m")]

    assert evicted(run([*NODES, *loads, *pods])) == ["p1", "p2", "p3"]


def test_prometheus_gives_shares_of_nodes_and_what_pods_use() -> None:
    args = {"metrics": {"type": "prometheus", "address": "http://prometheus:9090"}}
    queries = samples(LoadAwareArgs(metrics=LoadMetrics("prometheus")))
    of_nodes = [{"full": 0.85, "low1": 0.2, "low2": 0.2}, dict.fromkeys(("full", "low1", "low2"), 0.1)]
    of_pods = [{"default/p10": 1.0, "default/p05": 0.5, "default/p04": 0.4}, {"default/p10": 1.0}]

    result = run([*NODES, *THREE], args, samples=dict(zip(queries, [*of_nodes, *of_pods], strict=True)))

    assert evicted(result) == ["p10"]
    assert [(each.name, each.code) for each in result.refusals] == [("p04", "UsageUnknown"), ("p05", "UsageUnknown")]


def test_duration_is_in_the_queries_of_prometheus() -> None:
    cpu, memory, *_ = samples(LoadAwareArgs(metrics=LoadMetrics("prometheus"), duration="90s"))

    assert (cpu[-10:], memory[-10:]) == ("[90s:30s])", "[90s:30s])")
    assert samples(LoadAwareArgs()) == ()


def test_equal_to_a_low_threshold_is_low_and_to_a_high_one_not_high() -> None:
    at_both = [measured_node("full", "12400m"), measured_node("low1", "4650m"), measured_node("low2", "5")]

    assert evicted(run([*NODES, *at_both, *THREE])) == []
    at_both[0] = measured_node("full", "12401m")
    at_both[2] = measured_node("low2", "10")
    assert evicted(run([*NODES, *at_both, *THREE])) == ["p10"]


def test_memory_sorts_pods_unless_cpu_is_over() -> None:
    objects = [
        *NODES,
        *(measured_node(name, "1", memory) for name, memory in (("full", "15000"), ("low1", "10"), ("low2", "10"))),
        *on_full("small", "900m", "1000"),
        *on_full("large", "100m", "3000"),
    ]
    args = {"thresholds": {"memory": 30}, "targetThresholds": {"memory": 80}}

    assert evicted(run(objects, args)) == ["large"]


def test_pod_that_tolerates_the_taints_of_no_low_node_stays() -> None:
    tainted = [big_node("full"), big_node("low1", taints=["gpu:NoSchedule"])]

    result = run([*tainted, *LOADS[:2], *on_full("p", "1")])

    assert [(each.name, each.code) for each in result.refusals] == [("p", "NoDestination")]


def test_excluded_namespaces_keep_their_pods() -> None:
    result = run([*NODES, *LOADS, *THREE], {"evictableNamespaces": {"exclude": ["default"]}})

    assert [each.code for each in result.refusals] == ["Namespace"] * 3


def test_node_fit_wants_another_node_that_is_not_over_in_cpu_or_memory() -> None:
    """The pod requests more than the low node has free; without nodeFit this is not looked at."""
    others = [pod_object("other", node="low1", cpu="15", owners=["ReplicaSet/o"]), measured_pod("other", "1")]
    objects = [
        *NODES[:2],
        *LOADS[:2],
        *others,
        pod_object("p", node="full", cpu="2", owners=["ReplicaSet/r"]),
        measured_pod("p", "1"),
    ]

    assert evicted(run(objects)) == ["p"]
    result = run(objects, {"nodeFit": True})
    assert [(each.name, each.code) for each in result.refusals] == [("p", "NoNodeFits")]


def test_node_selector_leaves_nodes_out() -> None:
    nodes = [big_node(name, labels={"pool": "x"}) for name in ("full", "low1")]

    assert evicted(run([*nodes, NODES[2], *LOADS, *THREE], {"nodeSelector": "pool=x"})) == ["p10", "p05"]
    assert evicted(run([*nodes, NODES[2], *LOADS, *THREE], {"nodeSelector": "pool!=x"})) == []


def test_deviation_is_one_from_average_usage_and_upstream_from_average_requests() -> None:
    """Usage is 43% on average, so that 88% is 10 above it. Requests are 0, so that all nodes are above 0 + 10."""
    args = {"useDeviationThresholds": True, "thresholds": {"cpu": 10}, "targetThresholds": {"cpu": 10}}

    assert evicted(run([*NODES, *LOADS, *THREE], args)) == ["p10", "p05", "p04"]
    assert evicted(run([*NODES, *LOADS, *THREE], args, compatibility="upstream")) == []


def test_pod_without_metrics_stays_and_upstream_evicts_it_without_counting_it() -> None:
    objects = [*NODES, *LOADS, *THREE[:2], pod_object("unknown", node="full", owners=["ReplicaSet/r"])]

    fixed, upstream = run(objects), run(objects, compatibility="upstream")

    assert (evicted(fixed), [each.code for each in fixed.refusals]) == (["p10"], ["UsageUnknown"])
    assert evicted(upstream) == ["p10", "unknown"]


def test_node_without_metrics_fails_the_plugin_and_upstream_takes_it_for_unused() -> None:
    objects = [*NODES, LOADS[0], LOADS[1], *THREE]

    fixed, upstream = run(objects), run(objects, compatibility="upstream")

    assert [each.message for each in fixed.failures] == ["cpu usage of node low2 is not known"]
    assert evicted(upstream) == ["p10", "p05"]


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        pytest.param({"thresholds": {"cpu": 90}}, "90 is above 80, its target threshold", id="low above high"),
        pytest.param({"thresholds": {"memory": 1}}, "different: 'cpu', 'memory'", id="different resources"),
        pytest.param({"metrics": {"type": "elastic"}}, "'elastic' is not one of", id="type of metrics"),
        pytest.param({"metrics": {"address": "http://u:p@h"}}, "***@h' is not a URL", id="password"),
        pytest.param({"duration": "2m]) or (x["}, "is not a duration", id="duration"),
        pytest.param({"nodeSelector": "a in (b"}, "nodeSelector", id="selector"),
        pytest.param({"evictableNamespaces": {"include": ["a"]}}, "not supported", id="included namespaces"),
        pytest.param(
            {"thresholds": {"cpu": 1, "x": 1}, "targetThresholds": {"cpu": 9, "x": 9}},
            "x: is not measured",
            id="resource",
        ),
    ],
)
def test_arguments_are_checked(args: Object, problem: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(problem)):
        load_policy(policy_with("LoadAware", args={**EIGHTY, **args}), REGISTRY)


def test_fields_of_evictors_are_read_and_have_no_effect() -> None:
    args = {
        "evictLocalStoragePods": True,
        "labelSelector": {"matchLabels": {"a": "b"}},
        "priorityThreshold": {"value": 5},
    }

    assert evicted(run([*NODES, *LOADS, *THREE], args)) == ["p10", "p05"]

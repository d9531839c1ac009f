"""Rescheduling: what the plugin of Volcano's scheduler has its action shuffle evict (volcano.md §11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.evaluation import Evaluation
from descheduler.policy.load import load_policy
from tests.builders import Object, pod_object
from tests.strategies.measured import big_node, measured_node, measured_pod, run_measured
from tests.strategies.runs import policy_with

GROUP_NAME = "scheduling.k8s.io/group-name"
NODES = [big_node("full"), big_node("low1"), big_node("low2")]
LOADS = [measured_node("full", "14"), measured_node("low1", "2"), measured_node("low2", "2")]
TRAIN: Object = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "PodGroup",
    "metadata": {"name": "train", "namespace": "default"},
    "spec": {"minMember": 1},
}


def low_node_utilization(low: Object, high: Object) -> Object:
    return {"strategies": [{"name": "lowNodeUtilization", "params": {"thresholds": low, "targetThresholds": high}}]}


FIFTY_EIGHTY = low_node_utilization({"cpu": 50}, {"cpu": 80})


def task(name: str, cpu: str, node: str = "full", **facts: Any) -> Object:
    annotations = {GROUP_NAME: "train"}
    return pod_object(name, node=node, cpu=cpu, annotations=annotations, owners=["Job/train"], **facts)


def run(objects: Sequence[Object], args: Object | None = None, **facts: Any) -> Evaluation:
    return run_measured("Rescheduling", [TRAIN, *objects], args or FIFTY_EIGHTY, **facts)


def evicted(result: Evaluation) -> list[str]:
    assert not result.failures
    return [each.name for each in result.evictions]


def test_tasks_leave_by_priority_until_the_node_is_below_its_target() -> None:
    """14 of 16 cores are 87.5%, 12.8 are 80%: still at the target; 12.3 are below."""
    pods = [task("last", "1", priority=9), task("first", "1200m"), task("second", "500m", priority=1)]

    result = run([*NODES, *LOADS, *pods])

    assert evicted(result) == ["first", "second"]
    assert result.evictions[0].reason == "CPU usage at 87.5% (targetThresholds.cpu: 80)"


def test_only_running_tasks_of_a_pod_group_leave() -> None:
    pods = [
        pod_object("free", node="full", cpu="1", owners=["ReplicaSet/r"]),
        task("pending", "1", phase="Pending"),
        pod_object("stray", node="full", cpu="1", annotations={GROUP_NAME: "unknown"}, owners=["Job/x"]),
        task("task", "2"),
    ]

    assert evicted(run([*NODES, *LOADS, *pods])) == ["task"]


def test_equal_to_a_threshold_is_neither_low_nor_high() -> None:
    at_low = [LOADS[0], measured_node("low1", "8"), measured_node("low2", "8")]
    at_high = [measured_node("full", "12800m"), *LOADS[1:]]

    assert evicted(run([*NODES, *at_low, task("p", "1")])) == []
    assert evicted(run([*NODES, *at_high, task("p", "1")])) == []


def test_nodes_with_the_highest_percentages_come_first() -> None:
    nodes = [*NODES, big_node("fuller")]
    loads = [*LOADS, measured_node("fuller", "13", "12000")]
    pods = [task("a", "2"), task("b", "2", node="fuller")]

    assert evicted(run([*nodes, *loads, *pods])) == ["b", "a"]


def test_room_below_the_targets_ends_it_and_volcano_stops_at_exactly_zero_alone() -> None:
    """The low node is at 50% and has (60% - 50%) of 15.5 cores left, which is 1.55; each pod needs 2."""
    loads = [measured_node("full", "16"), measured_node("low1", "8")]
    args = {**low_node_utilization({"cpu": 55}, {"cpu": 60}), "metricsPeriod": "10m"}
    objects = [*NODES[:2], *loads, *(task(f"p{number}", "2") for number in range(6))]

    assert evicted(run(objects, args)) == ["p0"]
    assert evicted(run(objects, args, compatibility="upstream")) == ["p0", "p1", "p2", "p3"]


def test_pod_relieves_its_node_of_what_it_uses_and_in_volcano_of_what_it_requests() -> None:
    pods = [task("a", "2"), measured_pod("a", "100m"), task("b", "2"), measured_pod("b", "100m")]
    args = {**FIFTY_EIGHTY, "metricsPeriod": "10m"}

    assert evicted(run([*NODES, *LOADS, *pods], args)) == ["a", "b"]
    assert evicted(run([*NODES, *LOADS, *pods], args, compatibility="upstream")) == ["a"]


def test_volcano_reads_no_usage_with_its_own_default_period() -> None:
    assert evicted(run([*NODES, *LOADS, task("p", "2")])) == ["p"]
    assert evicted(run([*NODES, *LOADS, task("p", "2")], compatibility="upstream")) == []


def test_cordoned_node_takes_nothing() -> None:
    nodes = [big_node("full"), big_node("low1", unschedulable=True)]

    assert evicted(run([*nodes, *LOADS[:2], task("p", "2")])) == []


def test_strategies_that_volcano_does_not_have_are_warned_of_and_do_nothing() -> None:
    args = {"strategies": [{"name": "offlineOnly"}]}

    policy = load_policy(policy_with("Rescheduling", args=args), REGISTRY)

    assert "'offlineOnly' has no effect" in str(policy.warnings[0])
    assert evicted(run([*NODES, *LOADS, task("p", "2")], args)) == []


def test_without_strategies_nothing_is_above_100_percent() -> None:
    assert evicted(run([*NODES, *LOADS, task("p", "2")], {"interval": "5m"})) == []


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        pytest.param(low_node_utilization({"cpu": 120}, {}), "thresholds.cpu", id="percent"),
        pytest.param({"metricsPeriod": "soon"}, "metricsPeriod: 'soon' is not a duration", id="period"),
        pytest.param({"metrics": {"type": "elastic"}}, "'elastic' is not one of", id="type of metrics"),
    ],
)
def test_arguments_are_checked(args: Object, problem: str) -> None:
    with pytest.raises(PolicyError, match=problem):
        load_policy(policy_with("Rescheduling", args=args), REGISTRY)

"""What earlier rounds of a run have evicted is charged by every strategy that counts, before it asks for anything."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from descheduler.model.objects import NodeUsage, PodUsage
from descheduler.model.pod import Pod
from descheduler.model.quantity import parse_quantity
from descheduler.plan.moves import Move
from tests.builders import Object, make_node, make_pod, required_anti_affinity
from tests.strategies.runs import evicted, run_plugin

NODES = [make_node(name, labels={"zone": name}) for name in ("n1", "n2", "n3")]
OTHER = "PodLifeTime"
HALF_FULL: Object = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}}


def pods_on(node: str, number: int, **facts: object) -> list[Pod]:
    """Pods a, b and so on of one core each."""
    return [make_pod(f"{node}-{letter}", node=node, **{"cpu": "1", **facts}) for letter in "abcdefgh"[:number]]


def moved(pods: Sequence[Pod], *names: str, plugin: str) -> list[Move]:
    """The moves of the pods of these names, made for `plugin` of the only profile."""
    return [Move(pod, "p", plugin) for pod in pods if pod.name in names]


@pytest.mark.parametrize(
    ("plugin", "limit", "expected"),
    [
        pytest.param("LowNodeUtilization", 2, ["n1-a", "n1-b"], id="its own eviction is charged to its limit"),
        pytest.param(OTHER, 1, ["n1-b"], id="that of another plugin is not"),
        pytest.param("LowNodeUtilization", None, ["n1-a", "n1-b"], id="either is charged to the usage"),
        pytest.param(OTHER, None, ["n1-b"], id="of the node"),
    ],
)
def test_low_node_utilization_goes_on_where_it_was(plugin: str, limit: int | None, expected: list[str]) -> None:
    pods = pods_on("n1", 4)
    args = HALF_FULL | ({} if limit is None else {"evictionLimits": {"node": limit}})

    decisions = run_plugin("LowNodeUtilization", NODES, pods, args=args, prior_moves=moved(pods, "n1-a", plugin=plugin))

    assert sorted(evicted(decisions)) == expected


def test_low_node_utilization_at_its_limit_takes_nothing_more_off_a_full_node() -> None:
    pods = pods_on("n1", 4)
    prior_moves = moved(pods, "n1-d", plugin="LowNodeUtilization")

    args = {**HALF_FULL, "evictionLimits": {"node": 1}}
    decisions = run_plugin("LowNodeUtilization", NODES, pods, args=args, prior_moves=prior_moves)

    assert evicted(decisions) == ["n1-d"]
    assert [r.verdict.reason.value for r in decisions.refusals if r.verdict.reason] == ["LimitReached"]


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param([], ["n1-a", "n1-b"], id="room for two"),
        pytest.param(["n2-a"], ["n1-a"], id="one arrives from another node"),
        pytest.param(["n2-a", "n2-b"], [], id="two arrive"),
    ],
)
def test_destinations_hold_what_arrived_before(gone: list[str], expected: list[str]) -> None:
    pods = [*pods_on("n1", 4), *pods_on("n2", 2)]

    prior_moves = moved(pods, *gone, plugin=OTHER)
    decisions = run_plugin("LowNodeUtilization", NODES, pods, args=HALF_FULL, prior_moves=prior_moves)

    assert sorted(evicted(decisions)) == expected


def test_high_node_utilization_fills_no_more_than_the_room_that_is_left() -> None:
    pods = [*pods_on("n1", 1), *pods_on("n2", 3), *pods_on("n3", 1)]
    prior_moves = moved(pods, "n1-a", plugin="HighNodeUtilization")

    args = {"thresholds": {"cpu": 30}}
    decisions = run_plugin("HighNodeUtilization", NODES, pods, args=args, prior_moves=prior_moves)

    assert evicted(decisions) == ["n1-a"]


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        pytest.param(True, ["n1-b"], id="what it used is charged"),
        pytest.param(False, [], id="what nobody measured may have been enough"),
    ],
)
def test_measured_usage_of_a_pod_that_left_is_charged(measured: bool, expected: list[str]) -> None:
    pods = pods_on("n1", 4)
    core = {"cpu": parse_quantity("1"), "memory": 0}
    usage = {("default", pod.name): PodUsage("default", pod.name, (core,)) for pod in pods}
    if not measured:
        del usage["default", "n1-a"]

    decisions = run_plugin(
        "LowNodeUtilization",
        NODES,
        pods,
        args={**HALF_FULL, "metricsUtilization": {"source": "KubernetesMetrics"}},
        policy={"metricsProviders": [{"source": "KubernetesMetrics"}]},
        node_usage={
            node.name: NodeUsage(node.name, {"cpu": parse_quantity("3900m" if node.name == "n1" else "0"), "memory": 0})
            for node in NODES
        },
        pod_usage=usage,
        prior_moves=moved(pods, "n1-a", plugin=OTHER),
    )

    assert sorted(evicted(decisions)) == expected


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        pytest.param(None, ["n1-a"], id="one pod a node and no more"),
        pytest.param(2, ["n1-a", "n1-b"], id="as many as the limit leaves"),
    ],
)
def test_node_whose_pods_nobody_measures_gives_no_more_than_before(limit: int | None, expected: list[str]) -> None:
    pods = pods_on("n1", 4)
    thresholds = {"thresholds": {"MetricResource": 30}, "targetThresholds": {"MetricResource": 50}}
    source = {"metricsUtilization": {"source": "Prometheus", "prometheus": {"query": "q"}}}

    decisions = run_plugin(
        "LowNodeUtilization",
        NODES,
        pods,
        args={**thresholds, **source, **({} if limit is None else {"evictionLimits": {"node": limit}})},
        policy={"metricsProviders": [{"source": "Prometheus", "prometheus": {"url": "http://prometheus:9090"}}]},
        node_samples={"q": {"n1": 0.9, "n2": 0.1, "n3": 0.1}},
        prior_moves=moved(pods, "n1-a", plugin="LowNodeUtilization"),
    )

    assert sorted(evicted(decisions)) == expected


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param([], ["n1-c", "n1-d", "n1-e"], id="two are the average"),
        pytest.param(["n1-a", "n1-c"], ["n1-e"], id="those that left are the first above it"),
        pytest.param(["n1-a", "n1-b", "n1-c", "n1-d"], [], id="nobody is left above it"),
    ],
)
def test_duplicates_that_left_are_above_the_average(gone: list[str], expected: list[str]) -> None:
    pods = pods_on("n1", 5)

    decisions = run_plugin("RemoveDuplicates", NODES, pods, prior_moves=moved(pods, *gone, plugin=OTHER))

    assert sorted(evicted(decisions)) == expected


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param([], ["n1-c", "n1-d"], id="two are too many"),
        pytest.param(["n1-a"], ["n1-d"], id="one that left is one of them"),
        pytest.param(["n1-a", "n1-b", "n1-c"], [], id="enough have left"),
    ],
)
def test_pods_that_left_a_full_domain_are_the_first_to_leave_it(gone: list[str], expected: list[str]) -> None:
    selector = {"matchLabels": {"app": "web"}}
    stated = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    pods = [
        pod
        for node, number in (("n1", 4), ("n2", 1), ("n3", 1))
        for pod in pods_on(node, number, labels={"app": "web"}, spread=[stated])
    ]

    decisions = run_plugin(
        "RemovePodsViolatingTopologySpreadConstraint", NODES, pods, prior_moves=moved(pods, *gone, plugin=OTHER)
    )

    assert sorted(evicted(decisions)) == expected


def test_nobody_keeps_away_from_a_pod_that_left() -> None:
    pods = pods_on("n1", 2, labels={"app": "web"}, affinity=required_anti_affinity({"app": "web"}))

    decisions = run_plugin(
        "RemovePodsViolatingInterPodAntiAffinity", NODES, pods, prior_moves=moved(pods, "n1-a", plugin=OTHER)
    )

    assert evicted(decisions) == []


def test_owner_that_has_lost_pods_has_too_few() -> None:
    pods = pods_on("n1", 3)

    decisions = run_plugin(
        OTHER,
        NODES,
        pods,
        args={"maxPodLifeTimeSeconds": 60},
        evictor={"minReplicas": 3},
        prior_moves=moved(pods, "n1-b", plugin=OTHER),
    )

    assert evicted(decisions) == ["n1-b"]

"""What is taken off nodes when earlier rounds of a run have taken pods off them, or brought pods to the others."""

from __future__ import annotations

import pytest

from descheduler.model.objects import NodeUsage, PodUsage
from descheduler.model.quantity import parse_quantity
from tests.builders import Object, make_node
from tests.strategies.runs import evicted, moved, run_plugin
from tests.strategies.test_prior_moves import OTHER, pods_on

NODES = [make_node(name) for name in ("n1", "n2", "n3")]
HALF_FULL: Object = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}}


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

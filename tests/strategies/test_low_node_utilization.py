"""LowNodeUtilization: how many pods leave overused nodes, and when they stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.objects import NodeUsage, PodUsage
from descheduler.model.pod import Pod
from descheduler.model.quantity import parse_quantity
from descheduler.plan.decisions import Decisions
from tests.builders import Object, make_pod
from tests.strategies.node_utilization.worlds import pods_on, small_node
from tests.strategies.runs import evicted, refused, run_plugin

PLUGIN = "LowNodeUtilization"
ARGS: Object = {"thresholds": {"cpu": 30, "pods": 30}, "targetThresholds": {"cpu": 50, "pods": 50}}
METRICS: Object = {"metricsProviders": [{"source": "KubernetesMetrics"}]}
PROMETHEUS: Object = {"metricsProviders": [{"source": "Prometheus", "prometheus": {"url": "http://prometheus:9090"}}]}
QUERY = "instance:node_cpu:rate:sum"


def three_nodes(*, full_pods: int = 9, **facts: Any) -> list[Node]:
    """n1 is to be full, n2 has room, n3 is cordoned."""
    return [
        small_node("n1", pods=full_pods, **facts),
        small_node("n2", **facts),
        small_node("n3", unschedulable=True, **facts),
    ]


def protected_pods(**facts: Any) -> list[Pod]:
    """Three pods on n1 that nobody may evict: of a DaemonSet, a mirror, a critical one."""
    return [
        *pods_on("n1", 1, prefix="daemon", owners=["DaemonSet/log"], **facts),
        *pods_on("n1", 1, prefix="mirror", annotations={"kubernetes.io/config.mirror": "x"}, **facts),
        *pods_on("n1", 1, prefix="critical", priority=2_000_000_000, **facts),
    ]


def run(
    pods: Sequence[Pod] | None = None, *, nodes: Sequence[Node] | None = None, args: Object | None = None, **facts: Any
) -> Decisions:
    """The base case, where five of the eight pods on n1 may go and n2 runs one, but for what is said."""
    base = [*pods_on("n1", 5), *protected_pods(), *pods_on("n2", 1)]
    return run_plugin(
        PLUGIN,
        three_nodes() if nodes is None else nodes,
        base if pods is None else pods,
        args={**ARGS, **(args or {})},
        evictor={"nodeFit": True},
        **facts,
    )


def test_pods_leave_until_the_node_is_no_longer_overused() -> None:
    decisions = run()

    assert evicted(decisions) == ["p-n1-0", "p-n1-1", "p-n1-2", "p-n1-3"]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({"evictableNamespaces": {"exclude": ["default"]}}, 0, id="their namespace is excluded"),
        pytest.param({"evictionLimits": {"node": 2}}, 2, id="the plugin's limit per node"),
        pytest.param({"evictionLimits": {"node": 0}}, 0, id="a limit of none"),
        pytest.param({"numberOfNodes": 1}, 0, id="no more nodes are underused than may be"),
        pytest.param(
            {
                "useDeviationThresholds": True,
                "thresholds": {"cpu": 5, "pods": 5},
                "targetThresholds": {"cpu": 5, "pods": 5},
            },
            2,
            id="thresholds around an average that the cordoned node is part of",
        ),
    ],
)
def test_arguments_bound_the_evictions(args: Object, expected: int) -> None:
    decisions = run(args=args)

    assert len(evicted(decisions)) == expected


def test_nothing_leaves_without_evictable_pods() -> None:
    decisions = run([*protected_pods(), *pods_on("n1", 4, owners=["DaemonSet/x"]), *pods_on("n2", 1)])

    assert evicted(decisions) == []


def test_cordoned_node_is_no_destination() -> None:
    nodes = [small_node("n1", pods=9), small_node("n2", unschedulable=True)]

    decisions = run(nodes=nodes)

    assert evicted(decisions) == []


def test_pods_that_fit_no_other_node_stay() -> None:
    bound = pods_on("n1", 2, prefix="bound", node_selector={"disk": "ssd"})

    decisions = run([*pods_on("n1", 3), *bound, *protected_pods(), *pods_on("n2", 1)])

    assert evicted(decisions) == ["p-n1-0", "p-n1-1", "p-n1-2"]


def test_resource_without_threshold_still_has_to_be_free_at_the_destination() -> None:
    full = {"memory": "375"}
    pods = [*pods_on("n1", 5, **full), *protected_pods(**full), *pods_on("n2", 1, memory="3000")]
    deviation = {
        "useDeviationThresholds": True,
        "thresholds": {"cpu": 5, "pods": 5},
        "targetThresholds": {"cpu": 5, "pods": 5},
    }

    decisions = run(pods, nodes=three_nodes(full_pods=10), args=deviation)

    assert evicted(decisions) == []


@pytest.mark.parametrize(
    ("gpus", "expected"),
    [
        pytest.param({"n1": "8", "n2": "8"}, 3, id="both nodes have it"),
        pytest.param({"n1": "8"}, 0, id="no destination has it"),
    ],
)
def test_extended_resources_have_thresholds_too(gpus: Mapping[str, str], expected: int) -> None:
    gpu = "nvidia.com/gpu"
    thresholds = {"thresholds": {gpu: 30, "pods": 30}, "targetThresholds": {gpu: 50, "pods": 50}}
    nodes = [small_node(n, allocatable={gpu: gpus[n]} if n in gpus else {}) for n in ("n1", "n2")]
    unit: Object = {"cpu": None, "requests": {gpu: "1"}}
    pods = [*pods_on("n1", 5, **unit), *protected_pods(**unit)[:2], *pods_on("n2", 1, **unit)]

    decisions = run(pods, nodes=nodes, args=thresholds)

    assert len(evicted(decisions)) == expected


def test_lowest_priority_leaves_first() -> None:
    pods = [make_pod(f"prio-{p}", node="n1", cpu="1200m", priority=p) for p in (9, 1, 5)]

    decisions = run(pods, args={"evictionLimits": {"node": 2}})

    assert evicted(decisions) == ["prio-1", "prio-5"]


@pytest.mark.parametrize(
    ("taints", "tolerations", "compatibility", "expected"),
    [
        pytest.param(["a:NoSchedule"], [{"operator": "Exists"}], "upstream", 1, id="one toleration for one taint"),
        pytest.param(
            ["a:NoSchedule", "b:NoSchedule"], [{"operator": "Exists"}], "upstream", 0, id="upstream counts tolerations"
        ),
        pytest.param(["a:NoSchedule", "b:NoSchedule"], [{"operator": "Exists"}], "fixed", 1, id="fixed does not"),
        pytest.param(["a:PreferNoSchedule"], [], "upstream", 0, id="upstream minds a mere preference"),
        pytest.param(["a:PreferNoSchedule"], [], "fixed", 1, id="fixed does not mind it"),
    ],
)
def test_taints_of_the_destinations(
    taints: Sequence[str], tolerations: Sequence[Object], compatibility: Any, expected: int
) -> None:
    nodes = [small_node("n1"), small_node("n2", taints=taints)]
    pods = [make_pod("big", node="n1", cpu="3", tolerations=tolerations)]

    decisions = run(pods, nodes=nodes, compatibility=compatibility)

    assert len(evicted(decisions)) == expected
    assert refused(decisions) == ({} if expected else {"big": "NoDestination"})


def test_run_limit_ends_the_plugin_and_node_limit_the_node() -> None:
    nodes = [small_node("n1"), small_node("n2"), small_node("n3")]
    pods = [*pods_on("n1", 8), *pods_on("n2", 8)]

    by_node = run(pods, nodes=nodes, policy={"maxNoOfPodsToEvictPerNode": 1})
    in_total = run(pods, nodes=nodes, policy={"maxNoOfPodsToEvictTotal": 1})

    assert evicted(by_node) == ["p-n1-0", "p-n2-0"]
    assert evicted(in_total) == ["p-n1-0"]


def test_fullest_node_by_memory_is_relieved_first() -> None:
    nodes = [small_node("n1"), small_node("n2"), small_node("n3")]
    pods = [*pods_on("n1", 6), *pods_on("n2", 6, memory="10")]

    decisions = run(pods, nodes=nodes, policy={"maxNoOfPodsToEvictTotal": 1})

    assert evicted(decisions) == ["p-n2-0"]


def measured(**pods_facts: PodUsage) -> Mapping[str, Any]:
    usage = {"n1": "3201m", "n2": "401m", "n3": "11m"}
    return {
        "node_usage": {n: NodeUsage(n, {"cpu": parse_quantity(cpu), "memory": 0}) for n, cpu in usage.items()},
        "pod_usage": {("default", name): pod for name, pod in pods_facts.items()},
    }


def pod_usage(name: str, *cpus: str) -> PodUsage:
    return PodUsage("default", name, tuple({"cpu": parse_quantity(cpu), "memory": 0} for cpu in cpus))


MEASURED = measured(**{f"p-n1-{i}": pod_usage(f"p-n1-{i}", "300m", "101m") for i in range(5)})
FROM_METRICS_SERVER: Object = {"metricsUtilization": {"source": "KubernetesMetrics"}}


def test_measured_usage_replaces_requests() -> None:
    decisions = run(args=FROM_METRICS_SERVER, policy=METRICS, **MEASURED)

    assert len(evicted(decisions)) == 4


def test_pod_whose_containers_nobody_measured_stays() -> None:
    usages = {**MEASURED["pod_usage"], ("default", "p-n1-0"): pod_usage("p-n1-0")}
    del usages["default", "p-n1-1"]

    decisions = run(args=FROM_METRICS_SERVER, policy=METRICS, **{**MEASURED, "pod_usage": usages})

    assert evicted(decisions) == ["p-n1-2", "p-n1-3", "p-n1-4"]
    assert refused(decisions).items() >= {"p-n1-0": "UsageUnknown", "p-n1-1": "UsageUnknown"}.items()


def from_prometheus(samples: Mapping[str, float] | None, **args: Any) -> Decisions:
    """Five evictable pods on n1, and usage from a query."""
    thresholds: Object = {"thresholds": {"MetricResource": 30}, "targetThresholds": {"MetricResource": 50}}
    source = {"metricsUtilization": {"source": "Prometheus", "prometheus": {"query": QUERY}}}
    nodes = [small_node(name) for name in ("n1", "n2", "n3")]
    return run(
        pods_on("n1", 5),
        nodes=nodes,
        args={**thresholds, **source, **args},
        policy=PROMETHEUS,
        node_samples={} if samples is None else {QUERY: samples},
    )


@pytest.mark.parametrize(
    ("samples", "args", "expected"),
    [
        pytest.param((0.5696, 0.4245, 0.2038), {}, 1, id="one pod a node when nobody says more"),
        pytest.param((0.5696, 0.4245, 0.2038), {"evictionLimits": {"node": 3}}, 3, id="up to the plugin's limit"),
        pytest.param(
            (0.5696, 0.4245, 0.2038),
            {
                "useDeviationThresholds": True,
                "thresholds": {"MetricResource": 5},
                "targetThresholds": {"MetricResource": 5},
                "evictionLimits": {"node": 2},
            },
            2,
            id="around the average, up to the limit",
        ),
        pytest.param(
            (1, 0.5, 0),
            {
                "useDeviationThresholds": True,
                "thresholds": {"MetricResource": 10},
                "targetThresholds": {"MetricResource": 10},
            },
            1,
            id="around the average",
        ),
        pytest.param((0.509, 0.1, 0.1), {}, 0, id="fractions of a percent are cut off"),
    ],
)
def test_samples_of_a_query_replace_requests(samples: Sequence[float], args: Object, expected: int) -> None:
    decisions = from_prometheus(dict(zip(("n1", "n2", "n3"), samples, strict=True)), **args)

    assert len(evicted(decisions)) == expected


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        pytest.param(
            {"n1": 0.6, "n2": 0.1}, f"query {QUERY!r} has no sample for node n3", id="a node without a sample"
        ),
        pytest.param(
            {"n1": 0.6, "n2": 0.1, "n3": 0.1, "other": 1.2},
            f"the sample of query {QUERY!r} for node other is 1.2, not between 0 and 1",
            id="a sample above one, of any node",
        ),
        pytest.param(
            {"n1": nan, "n2": 0.1, "n3": 0.1},
            f"the sample of query {QUERY!r} for node n1 is nan, not between 0 and 1",
            id="not a number",
        ),
        pytest.param(
            None,
            f"prometheus client not initialized: there are no samples of query {QUERY!r}",
            id="no answer to the query",
        ),
    ],
)
def test_bad_samples_fail_the_plugin(samples: Mapping[str, float] | None, message: str) -> None:
    decisions = from_prometheus(samples)

    assert [failure.message for failure in decisions.failures] == [message]


@pytest.mark.parametrize(
    ("args", "facts", "message"),
    [
        pytest.param(
            FROM_METRICS_SERVER,
            MEASURED,
            "metrics client not initialized: add KubernetesMetrics to metricsProviders",
            id="metrics server without a provider",
        ),
        pytest.param(
            FROM_METRICS_SERVER,
            {"policy": METRICS},
            "metrics server has no value for node n1",
            id="a node that was not measured",
        ),
        pytest.param(
            {**FROM_METRICS_SERVER, "thresholds": {"gpu": 1}, "targetThresholds": {"gpu": 2}},
            {"policy": METRICS, **MEASURED},
            "metrics server measures cpu and memory of node n1, not gpu",
            id="a resource that nobody measures",
        ),
        pytest.param(
            {"metricsUtilization": {"source": "Tea leaves"}},
            {},
            "metricsUtilization.source 'Tea leaves' is unrecognized (one of KubernetesMetrics, Prometheus)",
            id="an unknown source",
        ),
        pytest.param(
            {"metricsUtilization": {}},
            {},
            "metricsUtilization.source is empty; name KubernetesMetrics or Prometheus",
            id="no source",
        ),
    ],
)
def test_usage_that_cannot_be_had_fails_the_plugin(args: Object, facts: Mapping[str, Any], message: str) -> None:
    decisions = run(args=args, **facts)

    assert [failure.message for failure in decisions.failures] == [message]


def test_reason_names_the_resources_above_their_target() -> None:
    decisions = run(args={"evictionLimits": {"node": 1}})

    (booked,) = decisions.moves
    assert booked.reason == (
        "CPU requests are at 80% of allocatable (targetThresholds.cpu: 50) and "
        "number of pods is at 88.9% of allocatable (targetThresholds.pods: 50)"
    )

"""What nodes and pods use, by requests, by the metrics server and by Prometheus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.objects import NodeUsage, PodUsage
from descheduler.model.quantity import NANO, parse_quantity
from descheduler.model.requests import ResourceList
from descheduler.strategies.framework import StrategyError
from descheduler.strategies.node_utilization.sampled_usage import (
    LoadMetrics,
    SampledUsage,
    UsageQueries,
    check_duration,
    check_metrics,
    metrics_needs,
)
from descheduler.strategies.node_utilization.usage import (
    MetricsServerUsage,
    PrometheusUsage,
    RequestedUsage,
    resources_in_play,
)
from tests.builders import make_node, make_pod, make_snapshot

NODE = make_node("a", cpu="4", memory="1000")
PODS = [make_pod("p", cpu="500m", memory="100"), make_pod("q", cpu="1")]
QUERIES = UsageQueries.over("5m", "rate({}[5m])")
OF_PROMETHEUS = LoadMetrics("prometheus")


def amounts(**texts: str) -> ResourceList:
    return {name: parse_quantity(text) for name, text in texts.items()}


def server(*containers: ResourceList, resources: tuple[str, ...] = ("cpu", "memory", "pods")) -> MetricsServerUsage:
    """Usage of node `a`, and of the containers of pod `p`."""
    return MetricsServerUsage(
        resources,
        nodes={"a": NodeUsage("a", amounts(cpu="2"))},
        pods={("default", "p"): PodUsage("default", "p", containers)},
    )


def test_resources_in_play_are_those_with_a_threshold_and_three_more() -> None:
    assert resources_in_play(["gpu", "cpu"]) == ("gpu", "cpu", "memory", "pods")


def test_requests_add_up_and_pods_are_counted() -> None:
    source = RequestedUsage(("cpu", "memory", "pods"))

    assert source.of_node(NODE, PODS) == amounts(cpu="1500m", memory="100", pods="2")
    assert source.of_pod(PODS[1]) == amounts(cpu="1", memory="0", pods="1")
    assert RequestedUsage(("cpu",)).of_node(NODE, PODS) == amounts(cpu="1500m")


def test_metrics_server_measures_cpu_and_memory_and_pods_are_counted() -> None:
    found = server(amounts(cpu="1", memory="5"), amounts(cpu="500m", memory="6"))

    assert found.of_node(NODE, PODS) == amounts(cpu="2", memory="0", pods="2")
    assert found.of_pod(PODS[0]) == amounts(cpu="1500m", memory="11", pods="1")


@pytest.mark.parametrize(
    "containers",
    [
        pytest.param([], id="no container"),
        pytest.param([amounts(cpu="1", memory="5"), amounts(cpu="1")], id="a container without memory"),
    ],
)
def test_pod_of_which_something_was_not_measured_has_no_usage(containers: list[ResourceList]) -> None:
    assert server(*containers).of_pod(PODS[0]) is None


def test_pod_that_was_not_measured_has_no_usage() -> None:
    assert server(amounts(cpu="1", memory="5")).of_pod(PODS[1]) is None


def test_metrics_server_does_not_know_other_nodes_and_resources() -> None:
    with pytest.raises(StrategyError, match="metrics server has no value for node b"):
        server().of_node(make_node("b"), [])
    with pytest.raises(StrategyError, match="measures cpu and memory of node a, not gpu"):
        server(resources=("cpu", "gpu")).of_node(NODE, [])


@pytest.mark.parametrize("sample", [float("nan"), -0.01, 1.01, float("inf")])
def test_sample_of_any_node_is_between_0_and_1(sample: float) -> None:
    with pytest.raises(StrategyError, match=r"for node b is .*, not between 0 and 1"):
        PrometheusUsage("q", {"a": 0.5, "b": sample})


def test_sample_is_cut_off_to_whole_percent() -> None:
    usage = PrometheusUsage("q", {"a": 0.999, "b": 1.0, "c": 0.0})

    assert [usage.of_node(make_node(name), [])["MetricResource"] for name in "abc"] == [99 * NANO, 100 * NANO, 0]
    with pytest.raises(StrategyError, match="query 'q' has no sample for node d"):
        usage.of_node(make_node("d"), [])


def test_what_is_counted_has_a_name() -> None:
    requested, measured = RequestedUsage(("cpu",)), server()

    assert [requested.noun(name) for name in ("cpu", "memory", "pods")] == [
        "CPU requests",
        "memory requests",
        "number of pods",
    ]
    assert measured.noun("cpu") == "CPU usage"


def sampled(
    samples: Mapping[str, Mapping[str, float]], metrics: LoadMetrics | None = OF_PROMETHEUS, **facts: Any
) -> SampledUsage:
    snapshot: Snapshot = make_snapshot([NODE], node_samples=samples, **facts.pop("snapshot", {}))
    return SampledUsage(snapshot, metrics, QUERIES, **facts)


NODE_SAMPLES = {QUERIES.node_cpu: {"a": 0.5}, QUERIES.node_memory: {"a": 0.25}}


def test_shares_of_the_capacity_are_the_usage_of_a_node() -> None:
    """CPU of the capacity counts in whole cores."""
    node = replace(NODE, capacity=amounts(cpu="3500m", memory="1000"))

    assert sampled(NODE_SAMPLES).of_node(node, PODS) == amounts(cpu="2", memory="250", pods="2")


def test_cores_and_bytes_are_the_usage_of_a_pod() -> None:
    samples = {QUERIES.pod_cpu: {"default/p": 0.5, "default/q": 1}, QUERIES.pod_memory: {"default/p": 12.7}}

    assert sampled(samples).of_pod(PODS[0]) == amounts(cpu="500m", memory="12", pods="1")
    assert sampled(samples).of_pod(PODS[1]) is None
    assert sampled({**samples, QUERIES.pod_cpu: {}}).of_pod(PODS[0]) is None


def test_metrics_server_is_asked_where_prometheus_is_not() -> None:
    facts = {"node_usage": {"a": NodeUsage("a", amounts(cpu="1", memory="500"))}}

    for metrics in (None, LoadMetrics("prometheus_adaptor")):
        usage = sampled(NODE_SAMPLES, metrics, snapshot=facts)
        assert (usage.share(NODE, "cpu"), usage.share(NODE, "memory")) == (0.25, 0.5)
    with pytest.raises(StrategyError, match="cpu usage of node b is not known"):
        sampled(NODE_SAMPLES, None, snapshot=facts).share(make_node("b"), "cpu")


def test_node_without_a_capacity_has_no_share() -> None:
    facts = {"node_usage": {"a": NodeUsage("a", amounts(cpu="1"))}}

    with pytest.raises(StrategyError, match="memory usage of node a is not known"):
        sampled({}, None, snapshot=facts).share(replace(NODE, capacity=amounts(cpu="4")), "memory")


@pytest.mark.parametrize(
    ("samples", "faults", "why"),
    [
        pytest.param(NODE_SAMPLES, {}, "cpu usage of node b is not known", id="no sample of the node"),
        pytest.param({}, {QUERIES.node_cpu: "it timed out"}, "it timed out", id="the query has failed"),
        pytest.param({}, {}, "there are no samples of Prometheus query", id="the query was not asked"),
    ],
)
def test_missing_sample_is_an_error_or_counts_as_unused(
    samples: Mapping[str, Mapping[str, float]], faults: Mapping[str, str], why: str
) -> None:
    facts = {"sample_faults": faults}

    with pytest.raises(StrategyError, match=why):
        sampled(samples, snapshot=facts).share(make_node("b"), "cpu")
    assert sampled(samples, snapshot=facts, takes_missing_for_zero=True).share(make_node("b"), "cpu") == 0.0


@pytest.mark.parametrize(
    ("metrics", "fields"),
    [
        pytest.param(None, [], id="nothing is said"),
        pytest.param(LoadMetrics(), [], id="everything by default"),
        pytest.param(LoadMetrics("prometheus", "http://prometheus:9090"), [], id="an address"),
        pytest.param(LoadMetrics("prometheus_adaptor"), [], id="the adaptor"),
        pytest.param(LoadMetrics("influx"), [("metrics", "type")], id="an unknown type"),
        pytest.param(LoadMetrics("prometheus", "prometheus"), [("metrics", "address")], id="no URL"),
        pytest.param(LoadMetrics("prometheus", "http://a:b@prometheus"), [("metrics", "address")], id="a password"),
        pytest.param(LoadMetrics("influx", "x"), [("metrics", "type"), ("metrics", "address")], id="both"),
    ],
)
def test_problems_of_where_usage_comes_from(metrics: LoadMetrics | None, fields: list[tuple[str, str]]) -> None:
    assert [problem.path for problem in check_metrics(metrics)] == fields


@pytest.mark.parametrize(
    ("duration", "is_read"),
    [("90s", True), ("1h30m", True), ("500ms", True), ("", False), ("2", False), ("2m ", False)],
)
def test_duration_is_one_that_prometheus_reads(duration: str, is_read: bool) -> None:
    assert (not check_duration("duration", duration)) is is_read


def test_metrics_server_is_needed_unless_prometheus_is_asked() -> None:
    assert metrics_needs(OF_PROMETHEUS).kinds == frozenset()
    for metrics in (None, LoadMetrics(), LoadMetrics("prometheus_adaptor")):
        assert metrics_needs(metrics).kinds == {"NodeMetrics.metrics.k8s.io", "PodMetrics.metrics.k8s.io"}

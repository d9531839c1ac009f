"""What a run reads: the cluster, its version, and what each Prometheus has measured for the plugins of the policy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from descheduler.cluster import live
from descheduler.cluster.live import NodeSamples
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.reading import read_cluster
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from tests.builders import NOW
from tests.living.builders import living_cluster
from tests.policy.builders import upstream

Asked = list[tuple[str, list[str], tuple[str, str] | None]]
QUERY = "node:load"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What each Prometheus is asked, by which Secret; each answers 1 for node n1, but for a query that it refuses."""
    found: Asked = []

    def answer(client: object, url: str, queries: Iterable[str], *, token_secret: Any) -> NodeSamples:
        wanted = list(queries)
        found.append((url, wanted, token_secret))
        faults = {query: "no such metric" for query in wanted if query == "broken"}
        return NodeSamples({query: {"n1": 1.0} for query in wanted if query not in faults}, faults, (f"from {url}",))

    monkeypatch.setattr(live, "read_node_samples", answer)
    return found


def utilization(query: str = QUERY) -> str:
    """LowNodeUtilization by what Prometheus measures."""
    return (
        "{thresholds: {MetricResource: 20}, targetThresholds: {MetricResource: 50}, "
        f"metricsUtilization: {{source: Prometheus, prometheus: {{query: '{query}'}}}}}}"
    )


def policy(*args: str, providers: str = "") -> Policy:
    """A profile with LowNodeUtilization for each of these arguments; `providers` are the Prometheus of the policy."""
    profiles = "".join(
        f"- name: p{number}\n"
        f"  pluginConfig: [{{name: LowNodeUtilization, args: {each}}}]\n"
        "  plugins: {balance: {enabled: [LowNodeUtilization]}}\n"
        for number, each in enumerate(args)
    )
    return load_policy(upstream(f"{providers}profiles:\n{profiles}"), REGISTRY)


PROMETHEUS = "metricsProviders: [{source: Prometheus, prometheus: {url: 'http://prometheus'}}]\n"
BY_SECRET = (
    "metricsProviders: [{source: Prometheus, prometheus: "
    "{url: 'http://prometheus', authToken: {secretReference: {namespace: ops, name: token}}}}]\n"
)
KUBERNETES = "metricsProviders: [{source: KubernetesMetrics}]\n"
PLAIN = "{thresholds: {cpu: 20}, targetThresholds: {cpu: 50}}"


def read(found: Policy | None, git_version: str = "v1.36.1", told: list[str] | None = None) -> Snapshot:
    client = living_cluster(2, settle_seconds=0).client()
    any_policy = found or load_policy(upstream("profiles: []\n"), REGISTRY)
    request = snapshot_request(any_policy, Landings.UNSEEN)
    tell = (lambda doing: None) if told is None else told.append
    return read_cluster(client, found, request, taken_at=NOW, git_version=git_version, tell=tell)


@pytest.mark.parametrize(
    ("found", "queries"),
    [
        pytest.param(None, [], id="no policy"),
        pytest.param(policy(PLAIN, providers=PROMETHEUS), [], id="no plugin that asks for it"),
        pytest.param(
            policy(utilization(), providers=PROMETHEUS), [("http://prometheus", [QUERY], None)], id="the policy's"
        ),
        pytest.param(
            policy(utilization(), utilization("other"), providers=PROMETHEUS),
            [("http://prometheus", [QUERY, "other"], None)],
            id="all queries at once",
        ),
        pytest.param(
            policy(utilization(), providers=BY_SECRET),
            [("http://prometheus", [QUERY], ("ops", "token"))],
            id="with a token of a Secret",
        ),
    ],
)
def test_prometheus_is_asked_for_what_plugins_look_at(
    asked: Asked, found: Policy | None, queries: list[tuple[str, list[str], object]]
) -> None:
    told: list[str] = []

    snapshot = read(found, told=told)

    assert asked == queries
    assert ("asking Prometheus for node usage" in told) is bool(queries)
    assert set(snapshot.node_samples) == {query for _, wanted, _ in queries for query in wanted}


@pytest.mark.parametrize("providers", [PROMETHEUS, KUBERNETES, ""])
def test_plugin_that_names_a_prometheus_asks_that_one(asked: Asked, providers: str) -> None:
    args = "{thresholds: {cpu: 20}, targetThresholds: {cpu: 50}, metrics: {type: prometheus, address: 'http://own'}}"
    document = upstream(
        f"{providers}profiles:\n"
        "- name: p\n"
        f"  pluginConfig: [{{name: LoadAware, args: {args}}}]\n"
        "  plugins: {balance: {enabled: [LoadAware]}}\n"
    )

    read(load_policy(document, REGISTRY))

    ((url, queries, secret),) = asked
    assert (url, bool(queries), secret) == ("http://own", True, None)


def test_answers_and_faults_are_of_the_snapshot(asked: Asked) -> None:
    snapshot = read(policy(utilization(), utilization("broken"), providers=PROMETHEUS))

    assert (snapshot.node_samples, snapshot.sample_faults) == ({QUERY: {"n1": 1.0}}, {"broken": "no such metric"})
    assert snapshot.warnings[-1] == "from http://prometheus"
    assert len(asked) == 1


@pytest.mark.parametrize(("text", "minor"), [("v1.36.1", 36), ("v1.34.0+k3s1", 34), ("", None), ("unknown", None)])
def test_version_is_that_of_the_server_where_it_can_be_read(text: str, minor: int | None) -> None:
    version = read(None, text).kube_version

    assert (None if version is None else version.minor) == minor

"""Live runs that balance by measured usage: the metrics server, and Prometheus with a token from a Secret."""

from __future__ import annotations

import base64
import re

import pytest

from descheduler.kube.client import KubeClient
from tests.builders import Object, node_object, pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Drop, Fault, failure
from tests.integration.live_runs import asked_for, balancing, eviction_requests, listed_paths, run, serve
from tests.policy.builders import upstream

NODE_METRICS = "/apis/metrics.k8s.io/v1beta1/nodes"
BY_METRICS_SERVER = balancing(
    "{thresholds: {cpu: 20}, targetThresholds: {cpu: 50}, metricsUtilization: {source: KubernetesMetrics}}",
    "metricsProviders: [{source: KubernetesMetrics}]",
)
QUERY = "avg by (instance) (load)"


def node_metrics(name: str, cpu: str) -> Object:
    """What the metrics server says of a node."""
    usage = {"cpu": cpu, "memory": "1Gi"}
    return {"apiVersion": "metrics.k8s.io/v1beta1", "kind": "NodeMetrics", "metadata": {"name": name}, "usage": usage}


def pod_metrics(name: str, cpu: str) -> Object:
    """What the metrics server says of a pod with one container."""
    return {
        "apiVersion": "metrics.k8s.io/v1beta1",
        "kind": "PodMetrics",
        "metadata": {"name": name, "namespace": "default"},
        "containers": [{"name": "main", "usage": {"cpu": cpu, "memory": "100Mi"}}],
    }


def unasked_pods() -> list[Object]:
    """A node with pods that ask for nothing, and an empty one: by requests there is nothing to balance."""
    return [node_object("busy"), node_object("idle"), *(pod_object(f"p{number}", node="busy") for number in range(4))]


def test_usage_of_the_metrics_server_decides_what_is_evicted(fake_api: FakeApi, client: KubeClient) -> None:
    measured = [node_metrics("busy", "3600m"), node_metrics("idle", "100m")]
    serve(fake_api, *unasked_pods(), *measured, *(pod_metrics(f"p{number}", "900m") for number in range(4)))

    result = run(client, BY_METRICS_SERVER)

    assert result.decisions.failures == ()
    assert len(eviction_requests(fake_api)) == 2
    assert {NODE_METRICS, "/apis/metrics.k8s.io/v1beta1/pods"} <= listed_paths(fake_api)


def with_taint_plugin(policy: str) -> str:
    """`policy` with a second profile that measures nothing."""
    return policy.replace(
        "profiles:\n",
        "profiles:\n"
        "- name: other\n"
        "  pluginConfig: [{name: RemovePodsViolatingNodeTaints}]\n"
        "  plugins: {deschedule: {enabled: [RemovePodsViolatingNodeTaints]}}\n",
    )


@pytest.mark.parametrize(
    ("fault", "warning"),
    [
        pytest.param(None, "the cluster does not serve NodeMetrics", id="there is no metrics server"),
        pytest.param(
            failure(503, "ServiceUnavailable", "the server is currently unable to handle the request"),
            r"NodeMetrics cannot be read \(.*unable to handle the request \(503\)\); assuming there are none",
            id="the metrics server is down",
        ),
        pytest.param(Drop(), "NodeMetrics cannot be read", id="the metrics server never answers"),
    ],
)
def test_without_the_metrics_server_only_the_plugin_that_needs_it_fails(
    fake_api: FakeApi, client: KubeClient, fault: Fault | None, warning: str
) -> None:
    tainted = node_object("tainted", taints=["gone=soon:NoSchedule"])
    serve(fake_api, *unasked_pods(), tainted, pod_object("astray", node="tainted"))
    if fault is not None:
        fake_api.fail_always("GET", NODE_METRICS, fault)

    result = run(client, with_taint_plugin(BY_METRICS_SERVER))

    assert [(f.plugin, f.message) for f in result.decisions.failures] == [
        ("LowNodeUtilization", "metrics server has no value for node busy")
    ]
    assert asked_for(fake_api) == ["astray"]
    assert re.search(warning, result.decisions.snapshot.warnings[0])


def by_prometheus(fake_api: FakeApi) -> str:
    """A policy that balances by a query to the Prometheus server that the fake API server also is."""
    secret = "authToken: {secretReference: {namespace: monitoring, name: token}}"
    return balancing(
        "{thresholds: {MetricResource: 20}, targetThresholds: {MetricResource: 50}, "
        f"metricsUtilization: {{source: Prometheus, prometheus: {{query: {QUERY!r}}}}}}}",
        f"metricsProviders: [{{source: Prometheus, prometheus: {{url: '{fake_api.url}', {secret}}}}}]",
    )


def serve_token(fake_api: FakeApi) -> None:
    """Puts the Secret with the token for Prometheus, and another one, on the server."""
    data = {"prometheusAuthToken": base64.b64encode(b"open-sesame").decode()}
    for name in ("token", "other"):
        fake_api.add("/api/v1/secrets", {"metadata": {"name": name, "namespace": "monitoring"}, "data": data})


def samples(**by_node: str) -> Object:
    """An answer of Prometheus with one sample a node."""
    result = [{"metric": {"instance": node}, "value": [1.0, text]} for node, text in by_node.items()]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


def test_samples_of_prometheus_decide_what_is_evicted(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *unasked_pods())
    serve_token(fake_api)
    fake_api.prometheus = samples(busy="0.9", idle="0.1")

    result = run(client, by_prometheus(fake_api))

    (query,) = fake_api.sent("POST", "/api/v1/query")
    assert query.headers["authorization"] == "Bearer open-sesame"
    assert result.decisions.failures == ()
    assert len(eviction_requests(fake_api)) >= 1


def test_prometheus_that_a_plugin_names_is_asked_for_nodes_and_pods(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *unasked_pods())
    answer = samples(busy="0.9", idle="0.1")
    pods = [{"metric": {"namespace": "default", "pod": f"p{number}"}, "value": [1.0, "0.9"]} for number in range(4)]
    answer["data"]["result"] += pods
    fake_api.prometheus = answer
    metrics = f"metrics: {{type: prometheus, address: '{fake_api.url}'}}"
    policy = balancing(f"{{thresholds: {{cpu: 20}}, targetThresholds: {{cpu: 50}}, {metrics}}}")

    result = run(client, policy.replace("LowNodeUtilization", "LoadAware"))

    assert result.decisions.failures == ()
    assert len(fake_api.sent("POST", "/api/v1/query")) == 4
    assert len(eviction_requests(fake_api)) == 2


def test_only_the_secret_that_the_policy_names_is_read(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *unasked_pods())
    serve_token(fake_api)
    fake_api.prometheus = samples(busy="0.9", idle="0.1")

    run(client, by_prometheus(fake_api))

    assert [request.path for request in fake_api.requests if "secrets" in request.path] == [
        "/api/v1/namespaces/monitoring/secrets/token"
    ]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param(samples(busy="1.5"), "sample of instance 'busy' is 1.5", id="a sample above 1"),
        pytest.param(samples(busy="NaN"), "sample of instance 'busy' is NaN", id="a sample that is no number"),
        pytest.param(samples(busy="0.9"), "has no sample for node idle", id="a node without sample"),
        pytest.param({"status": "error", "error": "bad query"}, "bad query", id="a query that is refused"),
    ],
)
def test_bad_answer_of_prometheus_fails_the_plugin_and_says_why(
    fake_api: FakeApi, client: KubeClient, answer: Object, message: str
) -> None:
    tainted = node_object("tainted", taints=["gone=soon:NoSchedule"])
    serve(fake_api, *unasked_pods(), tainted, pod_object("astray", node="tainted"))
    serve_token(fake_api)
    fake_api.prometheus = answer

    result = run(client, with_taint_plugin(by_prometheus(fake_api)))

    (failed,) = result.decisions.failures
    assert failed.plugin == "LowNodeUtilization"
    assert message in failed.message
    assert asked_for(fake_api) == ["astray"]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        pytest.param(None, "secret monitoring/token does not exist; create it", id="a secret that is missing"),
        pytest.param(
            failure(403, "Forbidden", "forbidden"),
            "not allowed to read secret monitoring/token (RBAC); grant the verb get",
            id="a secret that may not be read",
        ),
    ],
)
def test_token_that_cannot_be_had_fails_the_plugin_and_says_why(
    fake_api: FakeApi, client: KubeClient, fault: Fault | None, message: str
) -> None:
    serve(fake_api, *unasked_pods())
    if fault is not None:
        fake_api.fail_always("GET", "/api/v1/namespaces/monitoring/secrets/token", fault)

    result = run(client, by_prometheus(fake_api))

    (failed,) = result.decisions.failures
    assert message in failed.message
    assert eviction_requests(fake_api) == []


def test_metrics_are_not_read_for_a_policy_that_does_not_measure(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *unasked_pods())
    policy = upstream("metricsCollector: {enabled: true}\n")

    run(client, policy)

    assert not any("metrics.k8s.io" in path for path in listed_paths(fake_api))

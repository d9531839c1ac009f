"""What becomes of a snapshot when a server refuses or breaks off one of its lists."""

from __future__ import annotations

import base64

import pytest

from descheduler.cluster.kinds import KINDS
from descheduler.cluster.live import NodeSamples, read_live, read_node_samples
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot, SnapshotError
from descheduler.kube.client import KubeClient
from descheduler.kube.errors import KindAbsent, KindForbidden, ListExpired
from descheduler.transport.errors import AnswerBroken, ExchangeError
from tests.builders import node_object, pod_object
from tests.cluster.test_live import NODES, PODS, FakeServer, Step, page
from tests.integration.api_fixtures import client, fake_api, kubeconfig, naps
from tests.integration.fake_api import FakeApi

__all__ = ["client", "fake_api", "kubeconfig", "naps"]

NODE_LIST = [[page("Node", node_object("a"))]]
POD = page("Pod", pod_object("x", node="a"))
USAGE = "NodeMetrics.metrics.k8s.io"


def read(server: FakeServer, *kinds: str, wanted: frozenset[str] = frozenset()) -> Snapshot:
    return read_live(server, SnapshotRequest(frozenset(kinds), wanted))


@pytest.mark.parametrize("fault", [ListExpired("410"), AnswerBroken("cut short")], ids=["expired", "cut short"])
def test_list_is_read_four_times_at_most(fault: ExchangeError) -> None:
    interrupted: list[Step] = [page("Pod", pod_object("gone")), fault]
    lucky = FakeServer({NODES: NODE_LIST, PODS: [interrupted] * 3 + [[POD]]})
    unlucky = FakeServer({NODES: NODE_LIST, PODS: [interrupted]})

    assert [pod.name for pod in read(lucky, "Node", "Pod").pods] == ["x"]
    with pytest.raises(SnapshotError, match=r"expired 4 times|cut short \(tried 4 times\); the snapshot would not be"):
        read(unlucky, "Node", "Pod")
    assert unlucky.listed.count(PODS) == 4


def test_list_of_another_kind_is_refused() -> None:
    server = FakeServer({NODES: NODE_LIST, PODS: [[page("Node", node_object("b"))]]})

    with pytest.raises(SnapshotError, match="the answer is a NodeList, not a PodList; check the server"):
        read(server, "Node", "Pod")


def test_once_a_kind_is_forbidden_the_others_are_only_asked_for() -> None:
    namespaces = KINDS["Namespace"].path
    server = FakeServer(
        {
            NODES: [[KindForbidden("no", status_code=403)]],
            PODS: [[ExchangeError("odd")]],
            namespaces: [[page("Namespace")]],
        }
    )

    with pytest.raises(SnapshotError, match=r"^not allowed to list nodes .RBAC."):
        read(server, "Node", "Pod", "Namespace")
    assert server.limits == {NODES: 500, PODS: 1, namespaces: 1}


def test_usage_that_cannot_be_read_is_noted() -> None:
    server = FakeServer({NODES: NODE_LIST, KINDS[USAGE].path: [[ExchangeError("metrics-server is down")]]})

    assert read(server, "Node", USAGE).warnings == (
        "NodeMetrics cannot be read (metrics-server is down); assuming there are none",
    )


def test_kind_is_read_in_the_newest_version_that_the_server_has() -> None:
    kind = KINDS["DeviceClass.resource.k8s.io"]
    newest, second, oldest = (each.path for each in (kind, *kind.in_older_versions))
    absent: list[list[Step]] = [[KindAbsent("no", status_code=404)]]
    listed: list[list[Step]] = [[page("DeviceClass")]]

    for served in (newest, second, oldest):
        server = FakeServer({NODES: NODE_LIST} | dict.fromkeys((newest, second, oldest), absent) | {served: listed})
        assert kind.key in read(server, "Node", kind.key).kinds
        assert server.listed[-1] == served
    server = FakeServer({NODES: NODE_LIST} | dict.fromkeys((newest, second, oldest), absent))
    assert "does not serve DeviceClass (resource.k8s.io)" in read(server, "Node", kind.key).warnings[0]


@pytest.mark.parametrize(
    ("fault", "warnings"),
    [
        (KindForbidden("no", status_code=403), ()),
        (KindAbsent("no", status_code=404), ()),
        (ExchangeError("odd"), ("Service objects cannot be read, so replacements are predicted without: odd",)),
    ],
)
def test_kind_that_is_only_wanted_ends_no_run(fault: ExchangeError, warnings: tuple[str, ...]) -> None:
    path = KINDS["Service"].path
    server = FakeServer({NODES: NODE_LIST, path: [[fault]]})

    snapshot = read(server, "Node", wanted=frozenset({"Service"}))

    assert snapshot.warnings == warnings
    assert [node.name for node in snapshot.nodes] == ["a"]


SAMPLES = {
    "status": "success",
    "data": {"resultType": "vector", "result": [{"metric": {"instance": "a"}, "value": [1700000000.5, "0.5"]}]},
    "warnings": ["partial"],
}


def test_samples_are_asked_for_with_the_token_of_the_secret(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.prometheus = SAMPLES
    data = {"prometheusAuthToken": base64.b64encode(b"t0ken").decode()}
    fake_api.add("/api/v1/secrets", {"kind": "Secret", "metadata": {"name": "prom", "namespace": "ops"}, "data": data})

    found = read_node_samples(client, fake_api.url, ["q", "q"], token_secret=("ops", "prom"))

    assert found == NodeSamples({"q": {"a": 0.5}}, {}, ("partial",))
    assert fake_api.requests[-1].headers["authorization"] == "Bearer t0ken"


def test_samples_are_asked_for_without_a_token_over_plain_http(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.prometheus = SAMPLES

    found = read_node_samples(client, fake_api.url, ["q"], token_secret=None)

    assert found.by_query == {"q": {"a": 0.5}}
    assert "authorization" not in fake_api.requests[-1].headers


def test_token_that_cannot_be_read_is_the_fault_of_every_query(fake_api: FakeApi, client: KubeClient) -> None:
    found = read_node_samples(client, fake_api.url, ["p", "q"], token_secret=("ops", "prom"))

    assert found.by_query == {}
    assert list(found.faults) == ["p", "q"]
    assert "secret ops/prom" in found.faults["p"]


def test_query_that_fails_does_not_keep_the_others(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.prometheus = {"status": "error", "error": "odd"}

    found = read_node_samples(client, fake_api.url, ["q"], token_secret=None)

    assert found.by_query == {}
    assert found.faults["q"].startswith("prometheus query 'q': ")

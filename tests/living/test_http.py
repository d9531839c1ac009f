"""The living cluster over HTTP: the whole program runs against it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from descheduler.kube.client import KubeClient, connect
from descheduler.kube.evict import EvictionClient
from descheduler.transport.errors import TransportError
from descheduler.transport.exchange import StreamedResponse
from tests.faults.faults import Act, Delivery, Fault
from tests.integration.live_processes import Cli
from tests.living.builders import budget, deployment, living_cluster, node, pod
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay
from tests.living.http import LivingServer
from tests.living.observing.observer import Observer

pytestmark = pytest.mark.own_calls


@pytest.fixture
def cluster() -> LivingCluster:
    """A tainted node with two pods that have to leave it, and two others."""
    taint = node("n1", taints=["gone=soon:NoSchedule"])
    return living_cluster([taint, node("n2"), node("n3")], [deployment("web", 2, on=["n1", "n1"])])


@pytest.fixture
def server(cluster: LivingCluster) -> Iterator[LivingServer]:
    """The cluster over HTTP, twenty times as fast as real time."""
    with LivingServer(cluster, scale=20) as started:
        yield started


@pytest.fixture
def client(server: LivingServer, tmp_path: Path) -> KubeClient:
    """A client of the server."""
    return connect(str(server.write_kubeconfig(tmp_path / "kubeconfig")), environ={})


def test_a_run_evicts_and_the_replacements_land(
    cluster: LivingCluster, server: LivingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.add(budget("web", maxUnavailable=2))
    observer = Observer(cluster)

    code, _, err = Cli(tmp_path, server.write_kubeconfig(tmp_path / "kubeconfig"), capsys).run("-o", "json")

    assert (code, "Traceback" in err) == (0, False)
    assert len(observer.departures) == 2
    server.__exit__()
    observer.assert_kept()
    assert cluster.nodes_of("web") == ["n2", "n3"]


def test_lists_are_read_in_pages_and_in_protobuf(client: KubeClient) -> None:
    assert len(list(client.list_pages("/api/v1/nodes", limit=2))) == 2
    assert sum(len(batch.items) for batch in client.list_messages("/api/v1/pods")) == 2


def test_a_watch_tells_events_as_they_come(cluster: LivingCluster, client: KubeClient) -> None:
    query = {"watch": "1", "resourceVersion": str(cluster.store.version), "timeoutSeconds": "600"}
    stream = client.open_stream("/api/v1/pods", query=query, accept="application/json")
    assert isinstance(stream, StreamedResponse)
    threading.Timer(0.1, cluster.add, [pod("late")]).start()

    first = next(stream.parts())

    stream.close()
    assert json.loads(first.splitlines()[0])["object"]["metadata"]["name"] == "late"


def test_a_fault_on_the_way_closes_the_connection(
    cluster: LivingCluster, server: LivingServer, client: KubeClient
) -> None:
    target = cluster.pods("web")[0]["metadata"]
    server.passage = FaultyWay(cluster.api, lambda call: Fault(Act.AT_ONCE, delivery=Delivery.RESET))

    answer = EvictionClient(client, "policy/v1").evict(
        "shop", target["name"], uid=target["uid"], grace_period_seconds=None, annotations_reason="test"
    )

    assert answer is not None
    assert (answer.status_code, answer.was_sent) == (0, True)
    found = cluster.get("pods", target["name"], "shop")
    assert found is None or "deletionTimestamp" in found["metadata"]
    with pytest.raises(TransportError):
        client.send("GET", "/version")

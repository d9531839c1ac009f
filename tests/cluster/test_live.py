"""Reading a live cluster: pages, versions, restarts, absent and forbidden kinds."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.dumps.write import DumpWriter
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.live import dump_live, read_live
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import SnapshotError
from descheduler.kube.errors import KindAbsent, KindForbidden, ListExpired, NotProtobuf
from descheduler.kube.lists.body import ListPage
from descheduler.kube.lists.streamed import MessageBatch
from descheduler.transport.errors import ExchangeError, TransportError
from tests.builders import Object, node_object, pod_object
from tests.cluster.messages.writer import proto_object

PODS, NODES = KINDS["Pod"].path, KINDS["Node"].path


Step = ListPage | ExchangeError


@dataclass
class FakeServer:
    """Answers the n-th list of a path with its n-th script; the last script answers all further ones."""

    scripts: Mapping[str, Sequence[Sequence[Step]]]
    listed: list[str] = field(default_factory=list)
    limits: dict[str, int] = field(default_factory=dict)

    def list_pages(self, path: str, *, limit: int = 500) -> Iterator[ListPage]:
        scripts = self.scripts[path]
        script = scripts[min(self.listed.count(path), len(scripts) - 1)]
        self.listed.append(path)
        self.limits[path] = limit
        for step in script:
            if isinstance(step, ExchangeError):
                raise step
            yield step

    def list_messages(self, path: str, *, limit: int = 0) -> Generator[MessageBatch, None, None]:
        raise NotProtobuf(path)


def page(kind: str, *items: Object, version: str = "1") -> ListPage:
    metadata = {"resourceVersion": version, "continue": "more"}
    body = json.dumps({"kind": f"{kind}List", "apiVersion": "v1", "metadata": metadata, "items": items})
    return ListPage(body.encode(), "", version, f"{kind}List")


def forbidden(what: str) -> KindForbidden:
    return KindForbidden(f"may not list {what}", status_code=403)


NODE_LIST = [[page("Node", node_object("a"))]]


def test_pages_make_one_snapshot_of_one_version() -> None:
    server = FakeServer(
        {
            NODES: NODE_LIST,
            PODS: [[page("Pod", pod_object("x"), version="7"), page("Pod", pod_object("y"), version="7")]],
        }
    )
    taken_at = datetime(2026, 1, 2, tzinfo=UTC)

    snapshot = read_live(server, SnapshotRequest({"Pod", "Node"}), taken_at=taken_at)

    assert [pod.name for pod in snapshot.pods] == ["x", "y"]
    assert snapshot.resource_version == "7"
    assert snapshot.taken_at == taken_at
    assert server.listed == [NODES, PODS]


@pytest.mark.parametrize(
    "interrupted",
    [
        pytest.param([page("Pod", pod_object("gone")), ListExpired("410")], id="when the server compacts"),
        pytest.param(
            [page("Pod", pod_object("gone")), page("Pod", pod_object("x"), version="2")], id="when the version changes"
        ),
    ],
)
def test_list_starts_afresh(interrupted: list[Step]) -> None:
    server = FakeServer({NODES: NODE_LIST, PODS: [interrupted, [page("Pod", pod_object("x"), version="3")]]})

    snapshot = read_live(server, SnapshotRequest({"Pod", "Node"}))

    assert [pod.name for pod in snapshot.pods] == ["x"]
    assert [node.name for node in snapshot.nodes] == ["a"]
    assert snapshot.resource_version == "3"


def test_list_that_expires_again_and_again_ends_the_run() -> None:
    server = FakeServer({PODS: [[page("Pod", pod_object("x")), ListExpired("410")]]})

    with pytest.raises(SnapshotError, match="expired 4 times before all its pages were read"):
        read_live(server, SnapshotRequest({"Pod"}))


def test_large_pages_of_pods_spare_the_server_and_small_pages_of_nodes_the_memory() -> None:
    server = FakeServer({NODES: NODE_LIST, PODS: [[page("Pod", pod_object("x", node="a"))]]})

    read_live(server, SnapshotRequest({"Node", "Pod"}))

    assert server.limits == {NODES: 500, PODS: 2500}


def test_absent_optional_kind_is_noted() -> None:
    metrics = KINDS["NodeMetrics.metrics.k8s.io"].path
    server = FakeServer({NODES: NODE_LIST, metrics: [[KindAbsent("not served", status_code=404)]]})

    snapshot = read_live(server, SnapshotRequest({"Node", "NodeMetrics.metrics.k8s.io"}))

    assert snapshot.kinds == {"Node"}
    assert snapshot.warnings == ("the cluster does not serve NodeMetrics (metrics.k8s.io); assuming there are none",)


def test_absent_core_kind_ends_the_run() -> None:
    server = FakeServer({PODS: [[KindAbsent("the API server does not serve pods", status_code=404)]]})

    with pytest.raises(SnapshotError, match="check the address of the server"):
        read_live(server, SnapshotRequest({"Pod"}))


def test_all_forbidden_kinds_are_named_with_the_rules_to_add() -> None:
    budgets = KINDS["PodDisruptionBudget.policy"].path
    namespaces = KINDS["Namespace"].path
    server = FakeServer(
        {
            NODES: NODE_LIST,
            PODS: [[forbidden("pods")]],
            namespaces: [[forbidden("namespaces")]],
            budgets: [[forbidden("poddisruptionbudgets")]],
        }
    )

    with pytest.raises(SnapshotError) as caught:
        read_live(server, SnapshotRequest({"Node", "Pod", "Namespace", "PodDisruptionBudget.policy"}))

    assert str(caught.value) == (
        "not allowed to list pods, namespaces, poddisruptionbudgets (RBAC); add to the rules of the ClusterRole: "
        '- {apiGroups: [""], resources: [pods, namespaces], verbs: [list]} '
        '- {apiGroups: ["policy"], resources: [poddisruptionbudgets], verbs: [list]}'
    )


def test_connection_that_breaks_ends_the_run() -> None:
    server = FakeServer({PODS: [[page("Pod", pod_object("x")), TransportError("reset by peer")]]})

    with pytest.raises(SnapshotError, match=r"/api/v1/pods: reset by peer; the snapshot would not be complete"):
        read_live(server, SnapshotRequest({"Pod"}))


def test_broken_object_in_a_page_is_left_out_on_request() -> None:
    server = FakeServer({PODS: [[page("Pod", pod_object("x"), pod_object("bad", cpu="much"))]]})

    snapshot = read_live(server, SnapshotRequest({"Pod"}, skip_broken=True))

    assert [pod.name for pod in snapshot.pods] == ["x"]
    assert snapshot.skipped[0].startswith("Pod default/bad is invalid")


def test_dump_of_a_live_cluster_reads_back() -> None:
    interrupted: list[Step] = [page("Pod", pod_object("gone")), ListExpired("410")]
    kinds = [KINDS["Node"], KINDS["Pod"], KINDS["PodMetrics.metrics.k8s.io"]]
    server = FakeServer(
        {
            NODES: NODE_LIST,
            PODS: [interrupted, [page("Pod", pod_object("x"), version="3")]],
            KINDS["PodMetrics.metrics.k8s.io"].path: [[KindAbsent("no", status_code=404)]],
        }
    )
    out = io.BytesIO()

    dump_live(server, kinds, DumpWriter(out, datetime(2026, 1, 2, tzinfo=UTC), kinds))

    snapshot = read_dump(["-"], stdin=io.BytesIO(out.getvalue()))
    assert [pod.name for pod in snapshot.pods] == ["x"]
    assert snapshot.resource_version == "3"


class SpeakingServer:
    """Answers in protobuf: a page of a script is a batch, what can be called is called in its turn.

    `given_up` are the paths whose lists were not read to their end.
    """

    def __init__(self, scripts: Mapping[str, Sequence[Sequence[Step | Callable[[], object]]]]) -> None:
        self._scripts = scripts
        self.listed: list[str] = []
        self.given_up: list[str] = []
        self.is_given_up = threading.Event()
        """Set when pods are."""

    def list_pages(self, path: str, *, limit: int = 500) -> Iterator[ListPage]:
        raise AssertionError(f"{path} is asked for in JSON")

    def list_messages(self, path: str, *, limit: int = 0) -> Generator[MessageBatch, None, None]:
        scripts = self._scripts[path]
        script = scripts[min(self.listed.count(path), len(scripts) - 1)]
        self.listed.append(path)
        is_read = False
        try:
            for step in script:
                if isinstance(step, ExchangeError):
                    raise step
                if isinstance(step, ListPage):
                    items = [
                        proto_object(step.kind.removesuffix("List"), item) for item in json.loads(step.body)["items"]
                    ]
                    yield MessageBatch(items, step.resource_version, step.kind)
                else:
                    step()
            is_read = True
        finally:
            if not is_read:
                self.given_up.append(path)
                if path == PODS:
                    self.is_given_up.set()


def test_pods_are_asked_for_while_nodes_are_read() -> None:
    asked = threading.Event()
    server = SpeakingServer(
        {
            NODES: [[page("Node", node_object("a")), lambda: asked.wait(10), page("Node", node_object("b"))]],
            PODS: [[asked.set, page("Pod", pod_object("x"), version="7"), page("Pod", pod_object("y"), version="7")]],
        }
    )

    snapshot = read_live(server, SnapshotRequest({"Pod", "Node"}))

    assert asked.is_set()
    assert [node.name for node in snapshot.nodes] == ["a", "b"]
    assert [pod.name for pod in snapshot.pods] == ["x", "y"]
    assert snapshot.resource_version == "7"
    assert server.given_up == []


def test_pods_are_not_asked_for_before_the_version_of_the_nodes_is_settled() -> None:
    server = SpeakingServer({NODES: [[ExchangeError("no nodes")]], PODS: [[page("Pod", pod_object("x"))]]})

    with pytest.raises(SnapshotError, match="no nodes"):
        read_live(server, SnapshotRequest({"Pod", "Node"}))

    assert server.listed == [NODES]


def test_pods_are_asked_for_again_behind_nodes_that_are_read_again() -> None:
    """Pods of an older version than the nodes would leave a node that has just joined empty."""
    asked = threading.Event()
    broken: list[Step | Callable[[], object]] = [
        page("Node", node_object("a")),
        lambda: asked.wait(10),
        ListExpired("410"),
    ]
    server = SpeakingServer(
        {
            NODES: [broken, [page("Node", node_object("b"))]],
            PODS: [[asked.set, page("Pod", pod_object("old"))], [page("Pod", pod_object("new"), version="8")]],
        }
    )

    snapshot = read_live(server, SnapshotRequest({"Pod", "Node"}))

    assert server.listed == [NODES, PODS, NODES, PODS]
    assert [pod.name for pod in snapshot.pods] == ["new"]
    assert snapshot.resource_version == "8"


def test_pods_that_expire_after_they_were_asked_for_early_are_asked_for_again() -> None:
    server = SpeakingServer(
        {
            NODES: [[page("Node", node_object("a"))]],
            PODS: [[page("Pod", pod_object("gone")), ListExpired("410")], [page("Pod", pod_object("x"))]],
        }
    )

    snapshot = read_live(server, SnapshotRequest({"Pod", "Node"}))

    assert [pod.name for pod in snapshot.pods] == ["x"]
    assert server.listed == [NODES, PODS, PODS]


def test_pods_that_nobody_will_read_are_given_up() -> None:
    asked = threading.Event()
    server = SpeakingServer(
        {
            NODES: [[page("Node", node_object("a")), lambda: asked.wait(10), ExchangeError("the end")]],
            PODS: [[asked.set, page("Pod", pod_object("x"))]],
        }
    )

    with pytest.raises(SnapshotError, match="the end"):
        read_live(server, SnapshotRequest({"Pod", "Node"}))

    assert server.is_given_up.wait(10)
    assert sorted(server.given_up) == [NODES, PODS]

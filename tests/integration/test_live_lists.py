"""A live run reads pods and nodes in protobuf, each in one list, and all the same what the server answers."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest

from descheduler.cluster import begun_lists
from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.dumps.write import DumpWriter
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.live import dump_live, read_live
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot, SnapshotError
from descheduler.kube.client import KubeClient
from tests.builders import node_object, pod_object
from tests.integration.fake_api import FakeApi, Request
from tests.integration.faults import Truncate, failure
from tests.integration.live_runs import run, serve, taint_policy

PODS, NODES = "/api/v1/pods", "/api/v1/nodes"
LISTS = {kind.path for kind in KINDS.values()}
NAMES = [f"p{number:03}" for number in range(40)]


@pytest.fixture
def served(fake_api: FakeApi) -> FakeApi:
    """A server with one node and forty pods."""
    serve(fake_api, node_object("a"), *[pod_object(name, node="a") for name in NAMES])
    return fake_api


def read(client: KubeClient, git_version: str = "v1.36.0") -> Snapshot:
    return read_live(client, SnapshotRequest({"Node", "Pod"}), git_version=git_version)


def names(snapshot: Snapshot) -> list[str]:
    return [pod.name for pod in snapshot.pods]


def queries(api: FakeApi) -> list[dict[str, str]]:
    return [request.query for path in (NODES, PODS) for request in api.sent("GET", path)]


def test_run_reads_each_of_the_two_in_one_uncompressed_list(served: FakeApi, client: KubeClient) -> None:
    snapshot = run(client, taint_policy()).decisions.snapshot

    assert names(snapshot) == NAMES
    assert snapshot.resource_version == "1000"
    assert queries(served) == [{}, {}]
    [request] = served.sent("GET", PODS)
    assert request.headers["accept"] == "application/vnd.kubernetes.protobuf, application/json"
    assert request.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("git_version", ["v1.32.9", "", "unknown"])
def test_server_that_makes_an_answer_whole_first_is_asked_for_pages(
    served: FakeApi, client: KubeClient, git_version: str
) -> None:
    snapshot = read(client, git_version)

    assert names(snapshot) == NAMES
    assert queries(served) == [{"limit": "5000"}] * 2


@pytest.mark.parametrize("git_version", ["v1.33.0", "v1.34+", "v1.36.3-gke.100"])
def test_server_that_encodes_as_a_stream_is_asked_for_all(
    served: FakeApi, client: KubeClient, git_version: str
) -> None:
    read(client, git_version)

    assert queries(served) == [{}, {}]


def test_server_without_protobuf_is_asked_for_it_once_and_read_in_json(served: FakeApi, client: KubeClient) -> None:
    served.speaks_protobuf = False

    snapshot = read(client)

    assert names(snapshot) == NAMES
    assert [node.name for node in snapshot.nodes] == ["a"]
    assert queries(served) == [{}, {}, {}]


def test_server_that_turns_to_json_between_pages_is_read_in_json_from_the_start(
    served: FakeApi, client: KubeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(begun_lists, "_PAGE_SIZE", 10)

    def turn_to_json(request: Request) -> None:
        served.speaks_protobuf &= "continue" not in request.query

    served.on_request = turn_to_json

    assert names(read(client, "v1.32.0")) == NAMES


def test_run_asks_for_no_list_in_pages(served: FakeApi, client: KubeClient) -> None:
    run(client, taint_policy())

    lists = [request for request in served.sent("GET") if request.path in LISTS]
    assert {request.path for request in lists} >= {PODS, NODES, "/apis/policy/v1/poddisruptionbudgets"}
    assert [request.query for request in lists] == [{}] * len(lists)


@pytest.mark.parametrize(("git_version", "query"), [("v1.36.0", {}), ("v1.32.0", {"limit": "2500"})])
def test_dump_is_the_same_however_its_lists_come(
    served: FakeApi, client: KubeClient, git_version: str, query: dict[str, str]
) -> None:
    out = io.BytesIO()
    kinds = [KINDS["Node"], KINDS["Pod"]]

    dump_live(client, kinds, DumpWriter(out, datetime(2026, 1, 2, tzinfo=UTC), kinds), git_version=git_version)

    assert [request.query for request in served.sent("GET", PODS)] == [query]
    assert names(read_dump(["-"], stdin=io.BytesIO(out.getvalue()))) == NAMES


def test_list_that_is_cut_off_is_read_from_its_start(served: FakeApi, client: KubeClient) -> None:
    served.fail_next("GET", PODS, Truncate(2000), Truncate(50))

    snapshot = read(client)

    assert names(snapshot) == NAMES
    assert len(served.sent("GET", PODS)) == 3


def test_list_that_is_always_cut_off_ends_the_run(served: FakeApi, client: KubeClient) -> None:
    served.fail_always("GET", PODS, Truncate(2000))

    with pytest.raises(SnapshotError, match=r"/api/v1/pods: GET .* \(tried 4 times\); the snapshot would not be"):
        read(client)


def test_broken_pod_is_named_or_left_out(served: FakeApi, client: KubeClient) -> None:
    served.add(PODS, pod_object("broken", cpu="much"))

    snapshot = read_live(client, SnapshotRequest({"Pod"}, skip_broken=True), git_version="v1.36.0")

    assert names(snapshot) == NAMES
    [sentence] = snapshot.skipped
    assert sentence.startswith("Pod default/broken is invalid: spec.containers[0].resources.requests.cpu")
    with pytest.raises(SnapshotError, match="Pod default/broken is invalid"):
        read(client)


def test_right_that_is_missing_is_named(served: FakeApi, client: KubeClient) -> None:
    served.fail_always("GET", PODS, failure(403, "Forbidden", 'User "eve" cannot list'))

    with pytest.raises(SnapshotError, match="not allowed to list pods"):
        read(client)


def test_pod_that_is_in_the_list_twice_is_refused(served: FakeApi, client: KubeClient) -> None:
    served.add(PODS, pod_object(NAMES[0]))

    with pytest.raises(SnapshotError, match=f"pod default/{NAMES[0]} appears twice"):
        read(client)

"""Thousands of pods in pages, while others come and go, and while the list's version is compacted away."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
import urllib3

from descheduler.cluster.live import read_live
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.kube.client import KubeClient
from descheduler.kube.errors import NotProtobuf
from descheduler.kube.lists.body import ListPage
from descheduler.kube.lists.streamed import MessageBatch
from tests.e2e.binaries import Binaries
from tests.e2e.cluster_fill import fill, generated
from tests.e2e.control_plane import STORE, ControlPlane, running
from tests.e2e.kube_api import KubeApi, Object
from tests.e2e.objects import pod
from tests.e2e.program import Program, policy
from tests.e2e.witness import Witness

PODS = "/api/v1/pods"
NUM_PODS = 5_200
PAGE_SIZE = 500
KINDS = {"Node", "Pod"}


@pytest.fixture(scope="module")
def plane(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster of 5,200 pods in which nothing moves by itself."""
    folder = tmp_path_factory.mktemp("paging")

    def fill_etcd(url: str) -> None:
        fill(url, generated(nodes=200, pods=NUM_PODS, seed=7))

    with running(folder, binaries, parts=STORE, fill_etcd=fill_etcd) as plane:
        yield plane


def test_snapshot_is_whole_and_of_one_moment_while_pods_come_and_go(plane: ControlPlane) -> None:
    doomed = plane.api.items(PODS, limit="1")[0]
    namespace = doomed["metadata"]["namespace"]
    born: list[Object] = []

    def come_and_go() -> None:
        start = len(born)
        born.extend([plane.api.create(pod(f"born-{start + i}", namespace)) for i in range(10)])
        if plane.api.find(doomed) is not None:
            plane.api.delete(doomed, grace_seconds=0)

    witness = Witness(plane.kubeconfig)

    snapshot = read_live(SmallPages(witness.client(), come_and_go), SnapshotRequest(KINDS))

    assert [e.status_code for e in witness.exchanges if e.path == PODS] == [200] * 11
    assert len(born) >= 100
    assert pod_keys(snapshot) == pod_keys_at(plane.api, snapshot.resource_version)
    assert len(snapshot.pods) == NUM_PODS
    assert count_pods(plane.api) == NUM_PODS - 1 + len(born)


def test_program_reads_all_of_them(plane: ControlPlane, tmp_path: Path) -> None:
    expected = count_pods(plane.api)

    report = Program(plane.kubeconfig, tmp_path).run(policy("RemovePodsViolatingNodeTaints"), "--dry-run")

    assert report.exit_code == 0
    assert report.document["snapshot"]["numPods"] == expected > 5_000


def test_list_whose_version_is_compacted_away_is_read_again_from_its_start(plane: ControlPlane) -> None:
    """The API server then answers 410 to the token of the next page."""
    witness = Witness(plane.kubeconfig)
    compactions = iter([compact])

    def compact_once() -> None:
        for act in compactions:
            act(plane)

    snapshot = read_live(SmallPages(witness.client(), compact_once), SnapshotRequest(KINDS))

    assert [exchange.status_code for exchange in witness.exchanges if exchange.path == PODS].count(410) == 1
    assert pod_keys(snapshot) == pod_keys_at(plane.api, snapshot.resource_version)
    assert len(snapshot.pods) == len({p.key for p in snapshot.pods}) > 5_000


class SmallPages:
    """A source of small pages that calls `act` whenever a page of pods has come that is not the last.

    It acts in the thread of the test: the kernel would end an API server that was started by a thread that ends.
    """

    def __init__(self, client: KubeClient, act: Callable[[], object]) -> None:
        self._client = client
        self._act = act

    def list_pages(self, path: str, *, limit: int = PAGE_SIZE) -> Iterator[ListPage]:
        """The pages of the list at `path`, smaller than asked for."""
        for page in self._client.list_pages(path, limit=min(limit, PAGE_SIZE)):
            if path == PODS and page.continue_token:
                self._act()
            yield page

    def list_messages(self, path: str, *, limit: int = 0) -> Generator[MessageBatch, None, None]:
        """Nothing: protobuf comes in one list."""
        raise NotProtobuf(f"{path} is read in pages here")


def compact(plane: ControlPlane) -> None:
    """Makes etcd forget all versions but a new one, and the API server those that it remembers itself."""
    namespace = plane.api.items(PODS, limit="1")[0]["metadata"]["namespace"]
    marker = plane.api.create(pod("after-the-list", namespace))
    revision = int(marker["metadata"]["resourceVersion"])
    answer = urllib3.request(
        "POST", f"{plane.etcd_url}/v3/kv/compaction", body=json.dumps({"revision": revision, "physical": True})
    )
    assert answer.status == 200, answer.data
    plane["kube-apiserver"].kill()
    plane["kube-apiserver"].restart()


def count_pods(api: KubeApi) -> int:
    """How many pods there are now."""
    first = api.request("GET", f"{PODS}?limit=1")
    return len(first["items"]) + int(first["metadata"]["remainingItemCount"])


def pod_keys(snapshot: Snapshot) -> list[str]:
    """All pods of a snapshot, sorted, a pod that is there twice twice."""
    return sorted(pod.key for pod in snapshot.pods)


def pod_keys_at(api: KubeApi, version: str) -> list[str]:
    """All pods that the API server had at that version."""
    items = api.items(PODS, resourceVersion=version, resourceVersionMatch="Exact", limit="100000")
    return sorted(f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in items)

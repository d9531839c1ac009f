"""What the API server says of its pods and nodes in protobuf is what it says in JSON."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from hashlib import sha256

import msgspec
import pytest

from descheduler.cluster.live import read_live
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.kube.client import KubeClient, connect
from descheduler.kube.errors import NotProtobuf
from descheduler.kube.lists.body import ListPage
from descheduler.kube.lists.streamed import MessageBatch
from tests.cluster.dumps.full_objects import full_objects
from tests.e2e.binaries import Binaries
from tests.e2e.cluster_fill import fill, generated
from tests.e2e.control_plane import STORE, ControlPlane, running
from tests.e2e.witness import Witness

NUM_PODS = 3_000


@pytest.fixture(scope="module")
def plane(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster of 3,000 pods, and a pod and a node with every field there is."""
    full = full_objects()

    def fill_etcd(url: str) -> None:
        fill(url, generated(nodes=100, pods=NUM_PODS, seed=11))
        fill(url, [full["Pod"], full["Node"]])

    with running(tmp_path_factory.mktemp("messages"), binaries, parts=STORE, fill_etcd=fill_etcd) as plane:
        yield plane


def digest(snapshot: Snapshot) -> str:
    return sha256(msgspec.json.encode([snapshot.nodes, snapshot.pods], order="sorted")).hexdigest()


@pytest.mark.parametrize(
    "git_version", [pytest.param("v1.36.0", id="in one list"), pytest.param("v1.32.0", id="paged")]
)
def test_snapshot_from_protobuf_is_that_from_json(plane: ControlPlane, git_version: str) -> None:
    witness = Witness(plane.kubeconfig)

    snapshot = read_live(witness.client(), SnapshotRequest({"Node", "Pod"}), git_version=git_version)

    in_json = read_live(InJson(connect(str(plane.kubeconfig))), SnapshotRequest({"Node", "Pod"}))
    assert len(snapshot.pods) == NUM_PODS + 1
    assert digest(snapshot) == digest(in_json)
    assert [exchange.status_code for exchange in witness.exchanges] == [200, 200]


class InJson:
    """A source that knows no protobuf."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client

    def list_pages(self, path: str, *, limit: int = 500) -> Iterator[ListPage]:
        """The pages of the list at `path`."""
        return self._client.list_pages(path, limit=limit)

    def list_messages(self, path: str, *, limit: int = 0) -> Generator[MessageBatch, None, None]:
        """Nothing."""
        raise NotProtobuf(path)

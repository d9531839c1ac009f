"""A kind is added by its row alone: it is read from a cluster, a dump and objects, and kept in dumps."""

from __future__ import annotations

import gzip
import io
from datetime import UTC, datetime

import pytest

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.dumps.write import DumpWriter
from descheduler.cluster.kinds import KINDS, kinds_by_key
from descheduler.cluster.live import dump_live, read_live
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import SnapshotError
from descheduler.kube.client import KubeClient
from tests.builders import Object, node_object
from tests.cluster.foreign_kinds.gangs import GANGS, Gang
from tests.integration.api_fixtures import client, fake_api, kubeconfig, naps
from tests.integration.fake_api import FakeApi

__all__ = ["client", "fake_api", "kubeconfig", "naps"]

TABLE = kinds_by_key([*KINDS.values(), GANGS])
NEEDED = SnapshotRequest({"Node", GANGS.key}, kinds=TABLE)


def gang_object(name: str, size: object, *, version: str = "example.com/v1") -> Object:
    metadata = {"name": name, "namespace": "ai"}
    return {"kind": "PodGroup", "apiVersion": version, "metadata": metadata, "spec": {"size": size, "secret": "s3cr3t"}}


BLUE, RED = Gang("ai", "blue", 2), Gang("ai", "red", 8)
OBJECTS = [node_object("a"), gang_object("red", 8), gang_object("blue", 2)]


@pytest.fixture
def served(fake_api: FakeApi) -> FakeApi:
    """A server with one node and two gangs."""
    fake_api.kinds = TABLE
    fake_api.add("/api/v1/nodes", OBJECTS[0])
    fake_api.add(GANGS.path, *OBJECTS[1:])
    return fake_api


def test_objects_of_the_kind_are_in_name_order() -> None:
    snapshot = snapshot_from_objects(OBJECTS, NEEDED)

    assert snapshot.of(GANGS) == (BLUE, RED)
    assert snapshot.kinds == {"Node", "PodGroup.example.com"}


def test_kinds_of_one_name_are_told_apart_by_their_group() -> None:
    others = [gang_object("green", 4, version=group) for group in ("scheduling.volcano.sh/v1beta1", "example.org/v1")]

    snapshot = snapshot_from_objects([*OBJECTS, *others], NEEDED)

    assert snapshot.of(GANGS) == (BLUE, RED)


def test_kind_that_is_in_no_table_is_passed_over() -> None:
    snapshot = snapshot_from_objects(OBJECTS)

    assert snapshot.of(GANGS) == ()
    assert snapshot.kinds == {"Node"}


def test_cluster_is_asked_for_the_kind(served: FakeApi, client: KubeClient) -> None:
    snapshot = read_live(client, NEEDED)

    assert snapshot.of(GANGS) == (BLUE, RED)


def test_optional_kind_that_a_cluster_lacks_is_named(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add("/api/v1/nodes", OBJECTS[0])

    snapshot = read_live(client, NEEDED)

    assert snapshot.warnings == ("the cluster does not serve PodGroup (example.com); assuming there are none",)


def test_dump_keeps_what_the_row_says_and_reads_back(served: FakeApi, client: KubeClient) -> None:
    out, kinds = io.BytesIO(), [TABLE["Node"], GANGS]

    dump_live(client, kinds, DumpWriter(out, datetime(2026, 1, 2, tzinfo=UTC), kinds))

    snapshot = read_dump(["-"], NEEDED, stdin=io.BytesIO(out.getvalue()))
    assert snapshot.of(GANGS) == (BLUE, RED)
    assert snapshot.kinds == {"Node", "PodGroup.example.com"}
    assert snapshot.warnings == ()
    assert b"s3cr3t" not in gzip.decompress(out.getvalue())


def test_dump_that_lacks_the_kind_is_known_by_it() -> None:
    snapshot = read_dump(["-"], NEEDED, stdin=io.BytesIO(b'{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}'))

    assert snapshot.warnings == (
        "1 kind is not in the dump and assumed to be empty: podgroups.example.com (how many pods of a gang are placed"
        " together); 'descheduler snapshot' writes every kind that is read",
    )


def test_broken_object_of_the_kind_is_named() -> None:
    with pytest.raises(SnapshotError, match=r'PodGroup ai/red is invalid: spec\.size is "many": Expected `int`'):
        snapshot_from_objects([gang_object("red", "many")], NEEDED)


def test_request_for_a_kind_that_is_not_read_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown kinds: PodGroup"):
        SnapshotRequest({"PodGroup"}, kinds=TABLE)

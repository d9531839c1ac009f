"""Snapshots of objects that a program holds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.snapshot import SnapshotError
from tests.builders import node_object, pod_object


def test_no_objects_are_an_empty_cluster() -> None:
    snapshot = snapshot_from_objects([])

    assert (snapshot.nodes, snapshot.pods) == ((), ())


def test_nodes_and_pods_are_in_name_order() -> None:
    objects = [pod_object("b"), pod_object("a"), node_object("y"), node_object("x")]

    snapshot = snapshot_from_objects(objects)

    assert [pod.name for pod in snapshot.pods] == ["a", "b"]
    assert [node.name for node in snapshot.nodes] == ["x", "y"]


def test_lists_among_the_objects_are_opened_and_unknown_kinds_are_passed_over() -> None:
    mixed = {"kind": "List", "apiVersion": "v1", "items": [node_object("x")]}
    unknown = {"kind": "Widget", "apiVersion": "example.com/v1", "spec": object()}

    snapshot = snapshot_from_objects([mixed, unknown])

    assert [node.name for node in snapshot.nodes] == ["x"]


def test_aware_datetimes_count_as_times() -> None:
    created = datetime(2026, 1, 2, tzinfo=UTC)
    pod = pod_object("a")
    pod["metadata"]["creationTimestamp"] = created

    assert snapshot_from_objects([pod]).pods[0].created_at == created


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        pytest.param("pod", "objects[0]: a str instead of a Kubernetes object", id="text"),
        pytest.param({"metadata": {}}, "objects[0]: no kind", id="an object without kind"),
        pytest.param({"kind": "Pod", "apiVersion": "v1", "x": object()}, "is not plain data", id="a live object"),
        pytest.param({"kind": "Pod", "apiVersion": "v1"}, "metadata.name is missing", id="a pod without name"),
    ],
)
def test_what_is_no_object_is_named(item: Any, sentence: str) -> None:
    with pytest.raises(SnapshotError) as caught:
        snapshot_from_objects([item])

    assert sentence in str(caught.value)


def test_equal_parts_of_pods_are_one_value() -> None:
    snapshot = snapshot_from_objects([pod_object("a", cpu="1"), pod_object("b", cpu="1"), pod_object("c", cpu="2")])

    first, second, third = snapshot.pods
    assert first.spec is second.spec
    assert first.labels is second.labels
    assert first.spec is not third.spec

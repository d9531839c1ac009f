"""The field that keeps an object from being decoded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import SnapshotError
from tests.builders import Object, node_object, pod_object


def problem(obj: Object) -> str:
    with pytest.raises(SnapshotError) as caught:
        snapshot_from_objects([obj])
    return (
        str(caught.value)
        .partition(" is invalid: ")[2]
        .removesuffix("; fix it, or skip such objects with --skip-broken-objects")
    )


def changed(obj: Object, value: object, *path: str | int) -> Object:
    """A copy of `obj` with another value at `path`."""
    copy: Object = json.loads(json.dumps(obj))
    inner: Any = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return copy


@pytest.mark.parametrize(
    ("obj", "sentence"),
    [
        pytest.param(
            pod_object("a", cpu="12 cores"),
            "spec.containers[0].resources.requests.cpu: '12 cores' is not a quantity "
            "(a number with a suffix such as m, k, Mi, G or e3)",
            id="a quantity in a block that pods share",
        ),
        pytest.param(
            changed(pod_object("a"), [{"key": "a"}, {"key": 5}], "spec", "tolerations"),
            "spec.tolerations[1].key is 5: Expected `str | null`, got `int`",
            id="a number in the second of a list",
        ),
        pytest.param(
            changed(pod_object("a"), "soon", "metadata", "creationTimestamp"),
            'metadata.creationTimestamp is "soon": Invalid RFC3339 encoded datetime',
            id="a time that is none",
        ),
        pytest.param(
            changed(pod_object("a"), "2026-01-02T03:04:05", "metadata", "creationTimestamp"),
            "metadata.creationTimestamp: time '2026-01-02T03:04:05' has no zone: write 2026-01-02T15:04:05Z",
            id="a time without a zone",
        ),
        pytest.param(
            changed(pod_object("a"), {"on/off": True}, "metadata", "labels"),
            "metadata.labels['on/off'] is true: Expected `str | null`, got `bool`",
            id="a label that is no text",
        ),
        pytest.param(
            changed(node_object("a"), [{}], "status", "allocatable"),
            "status.allocatable: Expected `object | null`, got `array`",
            id="a list instead of an object",
        ),
        pytest.param(changed(node_object("a"), {}, "metadata"), "metadata.name is missing", id="no name"),
        pytest.param(
            pod_object("a", cpu="-1500m"),
            "spec.containers[0].resources.requests.cpu: cpu is -1500m, and a quantity of a resource is not below zero",
            id="a request below zero",
        ),
        pytest.param(
            changed(node_object("a"), {"cpu": -4}, "status", "allocatable"),
            "status.allocatable.cpu: cpu is -4, and a quantity of a resource is not below zero",
            id="allocatable below zero",
        ),
        pytest.param(
            changed(node_object("a"), {"a": "x" * 999}, "status", "capacity"),
            f"status.capacity.a: '{'x' * 180}...",
            id="a long text",
        ),
    ],
)
def test_fault_names_the_field_and_its_value(obj: Object, sentence: str) -> None:
    assert problem(obj) == sentence


def test_many_broken_objects_end_the_reading_though_they_may_be_left_out() -> None:
    builder = SnapshotBuilder("dump", SnapshotRequest(skip_broken=True))
    page = json.dumps({"kind": "PodList", "apiVersion": "v1", "items": [{}] * 10_001}).encode()

    with pytest.raises(SnapshotError, match=r"metadata\.name is missing; 10,000 invalid objects are already skipped"):
        builder.add_object(page)

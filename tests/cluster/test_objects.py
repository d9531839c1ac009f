"""Snapshots of objects that a program holds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from descheduler.cluster.objects import snapshot_from_objects, with_assumed
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import SnapshotError
from tests.builders import Object, node_object, pod_object


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


def deep() -> Object:
    nested: Object = {}
    for _ in range(1200):
        nested = {"a": nested}
    return nested


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        pytest.param(pod_object("x", namespace="shop"), "Pod shop/x is invalid: it is nested too deeply", id="a pod"),
        pytest.param(node_object("n"), "Node n is invalid: it is nested too deeply", id="a node"),
        pytest.param(
            {"kind": "Pod", "apiVersion": "v1"}, "Pod without a name is invalid: it is nested too deeply", id="nameless"
        ),
        pytest.param(
            {"kind": "Pod", "apiVersion": "v1", "metadata": {"namespace": 5, "name": "x"}},
            "Pod x is invalid: it is nested too deeply",
            id="a namespace that is a number",
        ),
        pytest.param({"kind": "Pod", "apiVersion": "v1", "metadata": []}, "Pod without a name", id="odd metadata"),
        pytest.param({"kind": "WidgetList"}, "objects[0] (WidgetList) is nested too deeply", id="an unknown list"),
    ],
)
def test_object_that_is_nested_too_deeply_is_named(item: Object, sentence: str) -> None:
    with pytest.raises(SnapshotError) as caught:
        snapshot_from_objects([item | {"future": deep()}])

    assert sentence in str(caught.value)


@pytest.mark.parametrize("item", [{"kind": 5}, {"kind": ""}, {}])
def test_object_without_a_kind_is_refused(item: Object) -> None:
    with pytest.raises(SnapshotError, match=r"objects\[0\]: no kind"):
        snapshot_from_objects([item])


EVERYTHING = SnapshotRequest()
GROUPS = ("scheduling.sigs.k8s.io/v1alpha1", "scheduling.x-k8s.io/v1alpha1", "scheduling.volcano.sh/v1beta1")


def group(version: str, name: str, number: int, namespace: str = "n") -> Object:
    return {
        "kind": "PodGroup",
        "apiVersion": version,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"minMember": number},
    }


def device_class(name: str, resource: str) -> Object:
    return {
        "kind": "DeviceClass",
        "apiVersion": "resource.k8s.io/v1",
        "metadata": {"name": name},
        "spec": {"extendedResourceName": resource},
    }


def test_nothing_assumed_leaves_the_snapshot_as_it_is() -> None:
    snapshot = snapshot_from_objects([pod_object("a")])

    assert with_assumed(snapshot, [], EVERYTHING) is snapshot


def test_pod_that_is_assumed_takes_the_place_of_a_pending_one_and_not_of_a_running_one() -> None:
    before = snapshot_from_objects(
        [node_object("a"), pod_object("runs", node="a"), pod_object("waits", node=""), pod_object("other", node="")]
    )
    assumed = [pod_object(name, node="", cpu="1") for name in ("runs", "waits", "new")]

    after = with_assumed(before, [*assumed, node_object("b")], EVERYTHING)

    assert [(pod.name, pod.node_name, bool(pod.spec.requests)) for pod in after.pods] == [
        ("new", "", True),
        ("other", "", False),
        ("runs", "a", False),
        ("runs", "", True),
        ("waits", "", True),
    ]
    assert after.nodes == before.nodes


@pytest.mark.parametrize("version", GROUPS)
def test_group_that_is_there_counts_before_one_that_is_assumed(version: str) -> None:
    before = snapshot_from_objects([group(version, "g", 1), group(version, "h", 1)])
    key = f"PodGroup.{version.partition('/')[0]}"

    after = with_assumed(before, [group(version, "g", 5), group(version, "g", 6, "other")], EVERYTHING)

    found = {(each.namespace, each.name): each.min_member for each in after.objects[key]}
    assert found == {("n", "g"): 1, ("n", "h"): 1, ("other", "g"): 6}


def test_object_of_devices_that_is_assumed_counts_before_one_that_is_there() -> None:
    before = snapshot_from_objects([device_class("a", "old"), device_class("b", "old")])

    after = with_assumed(before, [device_class("a", "new")], EVERYTHING)

    classes = after.objects["DeviceClass.resource.k8s.io"]
    assert {each.name: each.extended_resource for each in classes} == {"a": "new", "b": "old"}


def test_kinds_that_are_assumed_count_as_read() -> None:
    before = snapshot_from_objects([pod_object("a")])

    after = with_assumed(before, [device_class("a", "x"), group(GROUPS[0], "g", 1)], EVERYTHING)

    assert after.kinds == {"Pod", "DeviceClass.resource.k8s.io", "PodGroup.scheduling.sigs.k8s.io"}

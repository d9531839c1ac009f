"""Pods and nodes from the bytes of the API to model values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import SnapshotError
from descheduler.model.node import Node
from descheduler.model.pod import Pod, PodCondition
from descheduler.model.selection.taints import Taint
from tests.builders import Object, node_object, pod_object

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def decoded(obj: Object, *, keep_conditions: bool = True) -> Pod:
    return snapshot_from_objects([obj], SnapshotRequest(keep_conditions=keep_conditions)).pods[0]


def condition(kind: str, when: str | None) -> Object:
    return {"type": kind, "status": "True", "reason": "Because", "lastTransitionTime": when}


def test_each_condition_keeps_its_own_time() -> None:
    pod = pod_object(
        "x",
        conditions=[
            condition("A", "2026-01-02T03:04:05Z"),
            condition("B", "2026-01-02T03:04:05Z"),
            condition("C", None),
            condition("D", "2026-01-02T04:04:05+01:00"),
        ],
    )

    kept = decoded(pod).conditions

    assert kept is not None
    assert kept[-4:] == (
        PodCondition("A", "True", "Because", MOMENT),
        PodCondition("B", "True", "Because", MOMENT),
        PodCondition("C", "True", "Because", None),
        PodCondition("D", "True", "Because", MOMENT),
    )


def test_conditions_are_left_out_where_no_rule_reads_them() -> None:
    pod = decoded(pod_object("x"), keep_conditions=False)

    assert pod.conditions is None
    assert pod.is_ready


def test_time_without_zone_is_refused() -> None:
    pod = pod_object("x")
    pod["metadata"]["creationTimestamp"] = "2026-01-02T03:04:05"

    with pytest.raises(SnapshotError, match="has no zone"):
        decoded(pod)


def test_pod_has_the_times_that_its_metadata_and_its_status_say() -> None:
    pod = pod_object("x")
    pod["metadata"] |= {"creationTimestamp": "2026-01-02T03:04:04Z", "deletionTimestamp": "2026-01-02T03:04:05Z"}
    pod["status"]["startTime"] = "2026-01-02T03:04:06Z"
    second = timedelta(seconds=1)

    found = decoded(pod)

    assert (found.created_at, found.deleted_at, found.started_at) == (MOMENT - second, MOMENT, MOMENT + second)


def test_zero_time_of_go_is_no_time() -> None:
    pod = pod_object("x")
    pod["metadata"]["creationTimestamp"] = "0001-01-01T00:00:00Z"

    assert decoded(pod).created_at is None


def test_null_stands_for_absent_everywhere() -> None:
    spec = dict.fromkeys(("containers", "tolerations", "affinity", "nodeSelector", "volumes", "priority", "overhead"))
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "x", "labels": None}, "spec": spec, "status": None}

    value = decoded(pod)

    assert (value.spec.requests, value.spec.tolerations, value.spec.affinity, value.labels) == ({}, (), None, {})


def test_sidecar_and_overhead_and_pod_level_requests_count() -> None:
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "200m", "memory": "1Gi"}}}]
    init = [{"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}}]
    spec = {
        "containers": containers,
        "initContainers": init,
        "overhead": {"cpu": "50m"},
        "resources": {"requests": {"memory": "3Gi"}},
    }

    requests = decoded(pod_object("x") | {"spec": spec}).spec.requests

    assert requests == {"cpu": 350 * 10**6, "memory": 3 * 2**30 * 10**9}


def node(**status: object) -> Node:
    obj = node_object("a") | {"status": status}
    return snapshot_from_objects([obj]).nodes[0]


def condition_of_node(kind: str, status: str) -> Object:
    return {"type": kind, "status": status}


@pytest.mark.parametrize(
    ("conditions", "is_ready", "true_conditions"),
    [
        (None, True, set()),
        ([], True, set()),
        ([("Ready", "True")], True, set()),
        ([("Ready", "False")], False, set()),
        ([("Ready", "Unknown")], False, set()),
        ([("MemoryPressure", "False"), ("DiskPressure", "True"), ("Ready", "True")], True, {"DiskPressure"}),
        ([("", "True"), ("PIDPressure", "Unknown")], True, set()),
    ],
)
def test_node_is_ready_unless_its_condition_says_otherwise(
    conditions: list[tuple[str, str]] | None, is_ready: bool, true_conditions: set[str]
) -> None:
    told = None if conditions is None else [condition_of_node(*each) for each in conditions]

    found = node(conditions=told)

    assert (found.is_ready, set(found.true_conditions)) == (is_ready, true_conditions)


def test_node_that_says_little_has_nothing() -> None:
    bare = snapshot_from_objects([{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a"}}]).nodes[0]

    assert (bare.uid, bare.labels, bare.unschedulable, bare.taints, bare.allocatable) == ("", {}, False, (), {})
    assert (bare.images, bare.declared_features, bare.reservation, bare.is_trimmed) == ({}, frozenset(), None, False)


def test_taints_of_a_node_are_read() -> None:
    obj = node_object("a")
    obj["spec"]["taints"] = [{"key": "k", "value": "v", "effect": "NoSchedule"}, {}]

    assert snapshot_from_objects([obj]).nodes[0].taints == (Taint("k", "v", "NoSchedule"), Taint("", "", ""))

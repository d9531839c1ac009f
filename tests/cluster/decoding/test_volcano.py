"""Queues and PodGroups of Volcano as the API writes them."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from descheduler.cluster.decoding.volcano import decode_volcano_job, decode_volcano_pod_group, decode_volcano_queue
from descheduler.model.groups.volcano import (
    LifecyclePolicy,
    NodeGroups,
    VolcanoJob,
    VolcanoPodGroup,
    VolcanoQueue,
    VolcanoTask,
)
from tests.builders import Object

METADATA = {"name": "red", "uid": "u", "creationTimestamp": "2024-01-01T00:00:01Z"}
CREATED = datetime(2024, 1, 1, 0, 0, 1, tzinfo=UTC)
HIERARCHY = {"volcano.sh/hierarchy": "root/red"}


def test_a_queue_is_read_with_its_resources() -> None:
    spec = {
        "weight": 3,
        "priority": 7,
        "reclaimable": False,
        "parent": "root",
        "capability": {"cpu": "2"},
        "deserved": {"cpu": "1"},
        "guarantee": {"resource": {"memory": "1Ki"}},
        "affinity": {
            "nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["fast"]},
            "nodeGroupAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": ["old"]},
        },
    }
    metadata = {**METADATA, "annotations": {**HIERARCHY, "example.com/other": "x"}}

    found = decode_volcano_queue(json.dumps({"metadata": metadata, "spec": spec, "status": {"state": "Open"}}).encode())

    assert found == VolcanoQueue(
        name="red",
        uid="u",
        created_at=CREATED,
        annotations=HIERARCHY,
        weight=3,
        priority=7,
        capability={"cpu": 2 * 10**9},
        guarantee={"memory": 1024 * 10**9},
        deserved={"cpu": 10**9},
        reclaimable=False,
        parent="root",
        state="Open",
        node_groups=NodeGroups(required=frozenset({"fast"}), avoided=frozenset({"old"})),
    )


def test_a_queue_without_a_spec_has_weight_1_and_is_reclaimable() -> None:
    assert decode_volcano_queue(b'{"metadata": {"name": "red"}}') == VolcanoQueue("red")


def test_a_pod_group_is_read_with_its_queue_minimums_and_phase() -> None:
    spec = {
        "minMember": 3,
        "minTaskMember": {"ps": 1},
        "queue": "blue",
        "priorityClassName": "high",
        "minResources": {"cpu": "2"},
    }
    conditions = [{"type": "Scheduled", "status": "True", "reason": "ready"}, {"type": "Other", "status": "False"}]
    wire = {
        "metadata": {**METADATA, "namespace": "batch"},
        "spec": spec,
        "status": {"phase": "Running", "conditions": conditions},
    }

    found = decode_volcano_pod_group(json.dumps(wire).encode())

    assert found == VolcanoPodGroup(
        namespace="batch",
        name="red",
        min_member=3,
        created_at=CREATED,
        api_group="scheduling.volcano.sh",
        min_task_member={"ps": 1},
        uid="u",
        queue="blue",
        priority_class_name="high",
        min_resources={"cpu": 2 * 10**9},
        phase="Running",
        conditions=(("Scheduled", "ready"),),
    )


def test_a_pod_group_without_resources_differs_from_one_that_needs_none() -> None:
    groups = [b'{"spec": {}}', b'{"spec": {"minResources": null}}', b'{"spec": {"minResources": {}}}']

    assert [decode_volcano_pod_group(each).min_resources for each in groups] == [None, None, {}]


def job(*, metadata: Object | None = None, **parts: object) -> VolcanoJob:
    return decode_volcano_job(json.dumps({"metadata": {"name": "j"} | (metadata or {}), **parts}).encode())


def test_a_job_is_read_with_its_tasks_and_policies() -> None:
    spec = {
        "maxRetry": 0,
        "policies": [
            {"action": "RestartJob", "event": "PodEvicted"},
            {"action": "AbortJob", "events": ["A", "B"], "event": ""},
            {"event": "C", "events": ["D"]},
        ],
        "tasks": [
            {"name": "ps", "replicas": 2, "policies": [{"action": "CompleteJob", "event": "TaskCompleted"}]},
            {"name": "worker", "replicas": 3},
            {"policies": None},
        ],
    }
    metadata = {"namespace": "batch", "uid": "u", "deletionTimestamp": "2024-01-01T00:00:01Z"}

    found = job(metadata=metadata, spec=spec, status={"state": {"phase": "Running"}, "retryCount": 2})

    assert found == VolcanoJob(
        kind="Job",
        namespace="batch",
        name="j",
        uid="u",
        replicas=5,
        is_deleting=True,
        policies=(
            LifecyclePolicy("RestartJob", frozenset({"PodEvicted"})),
            LifecyclePolicy("AbortJob", frozenset({"A", "B"})),
            LifecyclePolicy("", frozenset({"C", "D"})),
        ),
        tasks={
            "ps": VolcanoTask(2, (LifecyclePolicy("CompleteJob", frozenset({"TaskCompleted"})),)),
            "worker": VolcanoTask(3),
            "": VolcanoTask(),
        },
        max_retry=0,
        num_restarts=2,
        phase="Running",
    )


def test_a_job_without_a_spec_has_no_pods_and_retries_as_the_webhook_says() -> None:
    assert job() == VolcanoJob(kind="Job", namespace="", name="j", uid="", replicas=0, max_retry=3)


def test_a_condition_counts_once_it_is_true() -> None:
    conditions = [
        {"type": "A", "status": "True", "reason": "r"},
        {"type": "B", "status": "Unknown"},
        {"status": "True"},
    ]
    wire = {"metadata": {"name": "g"}, "status": {"conditions": conditions}}

    assert decode_volcano_pod_group(json.dumps(wire).encode()).conditions == (("A", "r"), ("", ""))

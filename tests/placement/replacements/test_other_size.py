"""Whether the next pod may get the size that admission gave to the one before, and not that of its template."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.requests import CPU
from descheduler.placement.replacements.replacement import ReplacementMaker
from tests.builders import Object, owner, pod_object
from tests.placement.workloads import cluster_of, pod_named, workload_object

TEMPLATE = pod_object("t", cpu="1")
VPA = {"vpaUpdates": "Pod resources updated by db: container 0: cpu request"}
MILLI = 10**6


def workload(kind: str, **facts: Any) -> Object:
    return workload_object(f"{kind}/db", template=TEMPLATE, **facts)


def victim(kind: str, *, generation: int | None = 1, **facts: Any) -> Object:
    """A pod that requests more than the template of its owner."""
    made = pod_object("db-0", owners=[f"{kind}/db"], **{"cpu": "3", **facts})
    made["metadata"]["generation"] = generation
    return made


def revision(name: str, number: int, kind: str) -> Object:
    metadata: Object = {"name": name, "namespace": "default", "ownerReferences": [owner(f"{kind}/db")]}
    return {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "revision": number}


def of_revision(name: str) -> Object:
    return {"labels": {"controller-revision-hash": name}}


def other_cpu(*objects: Object) -> int | None:
    """The CPU that the next pod may request beside that of its template, in thousandths."""
    snapshot = cluster_of(*objects)
    other = ReplacementMaker(snapshot).replacement_of(pod_named(snapshot, "db-0")).alternative
    return None if other is None else other.spec.requests[CPU] // MILLI


def controlled_by(kind: str, *, is_controller: bool = True) -> Object:
    """A ReplicaSet with one owner."""
    made = workload("ReplicaSet")
    made["metadata"]["ownerReferences"] = [owner(f"{kind}/db", controller=is_controller)]
    return made


ROLLED_OUT: Object = {"status": {"currentRevision": "db-1", "updateRevision": "db-1"}}


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param(
            [workload("ReplicaSet"), victim("ReplicaSet", annotations=VPA)], id="VerticalPodAutoscaler has noted it"
        ),
        pytest.param(
            [workload("ReplicaSet", deployment="db"), victim("ReplicaSet")],
            id="the template of a Deployment's ReplicaSet",
        ),
        pytest.param(
            [workload("ReplicaSet", deployment="db"), victim("ReplicaSet", generation=None)],
            id="a server that counts no generations of pods",
        ),
        pytest.param(
            [workload("StatefulSet") | ROLLED_OUT, victim("StatefulSet", **of_revision("db-1"))],
            id="the revision of a StatefulSet",
        ),
        pytest.param(
            [
                workload("DaemonSet"),
                victim("DaemonSet", **of_revision("2")),
                revision("db-1", 1, "DaemonSet"),
                revision("db-2", 2, "DaemonSet"),
            ],
            id="the newest revision of a DaemonSet",
        ),
        pytest.param([workload("Job", completions=1), victim("Job")], id="the template of a Job"),
    ],
)
def test_pod_may_get_the_size_of_its_predecessor_again(objects: list[Object]) -> None:
    assert other_cpu(*objects) == 3000


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param(
            [workload("ReplicaSet", deployment="db"), victim("ReplicaSet", generation=2)], id="a resize in place"
        ),
        pytest.param(
            [workload("ReplicaSet", deployment="db"), victim("ReplicaSet", cpu=None)], id="a pod that requests nothing"
        ),
        pytest.param([workload("ReplicaSet"), victim("ReplicaSet")], id="a template that users edit"),
        pytest.param(
            [controlled_by("Rollout"), victim("ReplicaSet")], id="a template that another controller may edit"
        ),
        pytest.param(
            [controlled_by("Deployment", is_controller=False), victim("ReplicaSet")],
            id="a ReplicaSet that its Deployment does not control",
        ),
        pytest.param(
            [workload("StatefulSet") | ROLLED_OUT, victim("StatefulSet", **of_revision("db-0"))],
            id="an older revision of a StatefulSet",
        ),
        pytest.param(
            [
                workload("DaemonSet"),
                victim("DaemonSet", **of_revision("1")),
                revision("db-1", 1, "DaemonSet"),
                revision("db-2", 2, "DaemonSet"),
            ],
            id="an older revision of a DaemonSet",
        ),
        pytest.param(
            [workload("DaemonSet"), victim("DaemonSet", **of_revision("1"))], id="a DaemonSet without revisions"
        ),
        pytest.param([workload("ReplicaSet", deployment="db"), victim("ReplicaSet", cpu="1")], id="the same size"),
    ],
)
def test_pod_gets_the_size_of_the_template(objects: list[Object]) -> None:
    assert other_cpu(*objects) is None

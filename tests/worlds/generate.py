"""A seeded synthetic cluster of any size, in the pages that an API server would send.

Every strategy finds work in it: nodes of uneven load, cordoned, not ready, newly tainted and relabelled ones, replicas
that share a node or lean to one zone, broken anti-affinity, restarting, failed, old and waiting pods.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from tests.worlds.synthetic_nodes import Place, make_places, node_object
from tests.worlds.synthetic_pods import PodTemplates, pod_template
from tests.worlds.synthetic_scheduler import SyntheticScheduler
from tests.worlds.synthetic_workloads import Workload, budget_object, make_workloads, owner_objects

GENERATED_AT = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
"""The moment of every generated snapshot; ages are relative to it."""

_RESOURCE_VERSION = "81234567"
_STORAGE_CLASS = "gp3"
_CSI_DRIVER = "ebs.csi.example.com"
_API_VERSIONS = {
    "PriorityClass": "scheduling.k8s.io/v1",
    "PodDisruptionBudget": "policy/v1",
    "ReplicaSet": "apps/v1",
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "Job": "batch/v1",
    "StorageClass": "storage.k8s.io/v1",
}


def generate_cluster(*, nodes: int, pods: int, seed: int, page_size: int = 500) -> Iterator[bytes]:
    """JSON lists of at most `page_size` objects, nodes first and pods last, about 4 KB a pod.

    The same arguments give the same bytes. Memory is that of the nodes, the workloads and one page. A node holds
    about 60 pods of the usual sizes; what finds no room waits. Raises ValueError for a count below zero.
    """
    if nodes < 0 or pods < 0:
        raise ValueError(f"nodes ({nodes}) and pods ({pods}) are counts, so not below 0")
    rng = random.Random(seed)
    places = make_places(nodes, rng)
    workloads = list(make_workloads(pods, nodes, rng))
    yield from _pages("Node", (_encode(node_object(place)) for place in places), page_size)
    for kind, objects in _small_objects(workloads).items():
        yield from _pages(kind, map(_encode, objects), page_size)
    yield from _pages("Pod", _pods(workloads, places, rng), page_size)


def _encode(obj: Mapping[str, object]) -> str:
    return msgspec.json.encode(obj).decode()


def _pages(kind: str, objects: Iterator[str], page_size: int) -> Iterator[bytes]:
    page: list[str] = []
    is_first = True
    for text in objects:
        page.append(text)
        if len(page) == page_size:
            yield _page(kind, page)
            page, is_first = [], False
    if page or is_first:
        yield _page(kind, page)


def _page(kind: str, items: Sequence[str]) -> bytes:
    version = _API_VERSIONS.get(kind, "v1")
    head = f'{{"kind":"{kind}List","apiVersion":"{version}","metadata":{{"resourceVersion":"{_RESOURCE_VERSION}"}}'
    return f'{head},"items":[{",".join(items)}]}}'.encode()


def _small_objects(workloads: Sequence[Workload]) -> dict[str, list[dict[str, object]]]:
    names = sorted({workload.namespace for workload in workloads})
    objects: dict[str, list[dict[str, object]]] = {
        "Namespace": [
            {
                "metadata": {
                    "name": name,
                    "labels": {"kubernetes.io/metadata.name": name, "tier": f"tier-{len(name) % 3}"},
                }
            }
            for name in names
        ],
        "PriorityClass": [
            {"metadata": {"name": name}, "value": value}
            for name, value in (("business", 1000), ("batch", -10), ("system-node-critical", 2_000_001_000))
        ],
        "StorageClass": [
            {
                "metadata": {"name": _STORAGE_CLASS},
                "provisioner": _CSI_DRIVER,
                "volumeBindingMode": "WaitForFirstConsumer",
            }
        ],
        "PersistentVolume": [_volume(claim) for workload in workloads for claim in _claims(workload)],
        "PersistentVolumeClaim": [claim for workload in workloads for claim in _claims(workload)],
        "PodDisruptionBudget": [budget for workload in workloads if (budget := budget_object(workload)) is not None],
        "ReplicaSet": [],
        "Deployment": [],
        "StatefulSet": [],
        "Job": [],
        "ReplicationController": [],
    }
    for workload in workloads:
        for kind, obj in owner_objects(workload, pod_template(workload)).items():
            objects[kind].append(obj)
    return objects


def _claims(workload: Workload) -> list[dict[str, Any]]:
    if workload.kind != "StatefulSet":
        return []
    return [
        {
            "metadata": {
                "name": f"data-{workload.name}-{ordinal}",
                "namespace": workload.namespace,
                "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
            },
            "spec": {
                "storageClassName": _STORAGE_CLASS,
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "10Gi"}},
                "volumeName": f"pvc-{workload.uid[:23]}-{ordinal:012x}",
            },
            "status": {"phase": "Bound"},
        }
        for ordinal in range(workload.num_pods)
    ]


def _volume(claim: dict[str, Any]) -> dict[str, object]:
    """The volume that `claim` is bound to: on the network, so that every node reaches it."""
    name = claim["spec"]["volumeName"]
    return {
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "10Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": _STORAGE_CLASS,
            "claimRef": {"namespace": claim["metadata"]["namespace"], "name": claim["metadata"]["name"]},
            "csi": {"driver": _CSI_DRIVER, "volumeHandle": name},
        },
        "status": {"phase": "Bound"},
    }


def _pods(workloads: Sequence[Workload], places: Sequence[Place], rng: random.Random) -> Iterator[str]:
    scheduler = SyntheticScheduler(places, rng)
    for workload in workloads:
        templates = PodTemplates(workload, GENERATED_AT)
        for ordinal, place in enumerate(scheduler.place_all(workload)):
            yield templates.render(ordinal, place, _state(workload, place, rng), rng)


def _state(workload: Workload, place: Place | None, rng: random.Random) -> str:
    if place is None:
        return "Pending"
    draw = rng.random()
    if workload.kind == "Job" and draw < 0.35:
        return "Failed"
    if draw < 0.01:
        return "CrashLoopBackOff"
    return "Failed" if draw < 0.015 and workload.kind != "DaemonSet" else "Running"

"""A cluster of Deployments with pods on nodes that nobody may be on any more, as etcd holds it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple
from uuid import NAMESPACE_URL, uuid5

from tests.e2e.kube_api import Object
from tests.e2e.objects import deployment, namespace, node

__all__ = ["NAMESPACE", "Size", "make_world"]

NAMESPACE = "shop"
_REPLICAS = 20
_PODS_A_SOURCE = 10
_NODE_CPU_MILLI = 16_000
_SIZES_MILLI = (250, 500, 1000)
_CLOSED = {"key": "closed", "effect": "NoSchedule"}


class Size(NamedTuple):
    """How large the cluster is, and how many of its pods have to move."""

    nodes: int
    pods: int
    migrations: int

    @property
    def sources(self) -> int:
        """Nodes that pods have to leave."""
        return -(-self.migrations // _PODS_A_SOURCE)


class _Workload(NamedTuple):
    deployment: Object
    replica_set: Object
    cpu_milli: int


def make_world(size: Size, *, scheduler: str, seed: int = 1) -> Iterator[Object]:
    """Its objects. Pods that have to move come first on the sources; the others are spread unevenly over the rest."""
    rng = random.Random(seed)
    workloads = [_make_workload(index, scheduler, rng) for index in range(-(-size.pods // _REPLICAS))]
    yield {**namespace(NAMESPACE), "status": {"phase": "Active"}}
    for index in range(size.nodes):
        yield _node(index, is_source=index < size.sources)
    for workload in workloads:
        yield workload.deployment
        yield workload.replica_set
    yield from _pods(size, workloads, rng)


def _pods(size: Size, workloads: list[_Workload], rng: random.Random) -> Iterator[Object]:
    replicas = [(workload, number) for workload in workloads for number in range(_REPLICAS)][: size.pods]
    rng.shuffle(replicas)
    free_milli = [_NODE_CPU_MILLI] * size.nodes
    for place, (workload, number) in enumerate(replicas):
        index = place // _PODS_A_SOURCE if place < size.migrations else _place(size, workload, free_milli, rng)
        free_milli[index] -= workload.cpu_milli
        yield _pod(workload, number, f"node-{index:05}")


def _place(size: Size, workload: _Workload, free_milli: list[int], rng: random.Random) -> int:
    while True:
        index = rng.randrange(size.sources, size.nodes)
        if free_milli[index] >= workload.cpu_milli:
            return index


def _node(index: int, *, is_source: bool) -> Object:
    taints = [_CLOSED] if is_source else []
    cpu, zone = f"{_NODE_CPU_MILLI}m", f"zone-{index % 3}"
    made = node(f"node-{index:05}", cpu=cpu, memory="64Gi", zone=zone, taints=taints)
    made["status"]["conditions"] = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
    return made


def _make_workload(index: int, scheduler: str, rng: random.Random) -> _Workload:
    """A Deployment and its ReplicaSet, alike enough for their controllers to have nothing to do."""
    name, cpu_milli = f"web-{index:04}", rng.choice(_SIZES_MILLI)
    owner = deployment(name, NAMESPACE, replicas=_REPLICAS, cpu=f"{cpu_milli}m", schedulerName=scheduler)
    owner["metadata"] |= {"uid": _uid("deployment", name), "annotations": _REVISION, "generation": 1}
    labels = {"app": name, "pod-template-hash": "1"}
    template = {**owner["spec"]["template"], "metadata": {"labels": labels, "annotations": {}}}
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{name}-1",
            "namespace": NAMESPACE,
            "uid": _uid("replicaset", name),
            "labels": labels,
            "annotations": {**_REVISION, "deployment.kubernetes.io/desired-replicas": str(_REPLICAS)},
            "ownerReferences": [_reference(owner)],
            "generation": 1,
        },
        "spec": {"replicas": _REPLICAS, "selector": {"matchLabels": labels}, "template": template},
    }
    return _Workload(owner, replica_set, cpu_milli)


_REVISION = {"deployment.kubernetes.io/revision": "1"}


def _pod(workload: _Workload, number: int, node_name: str) -> Object:
    template = workload.replica_set["spec"]["template"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{workload.replica_set['metadata']['name']}-{number:02}",
            "namespace": NAMESPACE,
            "labels": template["metadata"]["labels"],
            "ownerReferences": [_reference(workload.replica_set)],
        },
        "spec": {**template["spec"], "nodeName": node_name, "priority": 0},
        "status": {
            "phase": "Running",
            "startTime": "2026-01-01T00:00:00Z",
            "conditions": [
                {"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
                for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
            ],
        },
    }


def _reference(owner: Object) -> Object:
    meta = owner["metadata"]
    head = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta["name"], "uid": meta["uid"]}
    return {**head, "controller": True, "blockOwnerDeletion": True}


def _uid(kind: str, name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"{kind}/{name}"))

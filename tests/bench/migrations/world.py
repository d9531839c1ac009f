"""A cluster of Deployments with pods on nodes that nobody may be on any more, as etcd holds it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from tests.e2e.kube_api import Object
from tests.e2e.objects import deployment, namespace
from tests.e2e.stored_workloads import owner_reference, ready_node, replica_set, running_pod, stored_uid

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
        yield running_pod(workload.replica_set, number, f"node-{index:05}")


def _place(size: Size, workload: _Workload, free_milli: list[int], rng: random.Random) -> int:
    while True:
        index = rng.randrange(size.sources, size.nodes)
        if free_milli[index] >= workload.cpu_milli:
            return index


def _node(index: int, *, is_source: bool) -> Object:
    taints = [_CLOSED] if is_source else []
    cpu, zone = f"{_NODE_CPU_MILLI}m", f"zone-{index % 3}"
    return ready_node(f"node-{index:05}", cpu=cpu, memory="64Gi", zone=zone, taints=taints)


def _make_workload(index: int, scheduler: str, rng: random.Random) -> _Workload:
    """A Deployment and its ReplicaSet, alike enough for their controllers to have nothing to do."""
    name, cpu_milli = f"web-{index:04}", rng.choice(_SIZES_MILLI)
    owner = deployment(name, NAMESPACE, replicas=_REPLICAS, cpu=f"{cpu_milli}m", schedulerName=scheduler)
    owner["metadata"] |= {"uid": stored_uid("deployment", name), "annotations": _REVISION, "generation": 1}
    labels = {"app": name, "pod-template-hash": "1"}
    template = {**owner["spec"]["template"], "metadata": {"labels": labels, "annotations": {}}}
    owned = replica_set(f"{name}-1", NAMESPACE, replicas=_REPLICAS, template=template)
    owned["metadata"] |= {
        "annotations": {**_REVISION, "deployment.kubernetes.io/desired-replicas": str(_REPLICAS)},
        "ownerReferences": [owner_reference(owner)],
    }
    return _Workload(owner, owned, cpu_milli)


_REVISION = {"deployment.kubernetes.io/revision": "1"}

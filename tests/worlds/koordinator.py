"""A small GPU cluster of Koordinator as a dump: for each rule a pod that may be evicted, and one that is not evicted.

`python -m tests.worlds.koordinator > config/samples/koordinator.jsonl.gz` writes the bundled sample. Each rule has a
pool of nodes of its own, so that no rule decides about the pods of another; the first node of most pools is tainted.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from descheduler.cluster.kinds import KINDS
from descheduler.model.koordinator.elastic_quota import QUOTA_DOMAIN
from tests.builders import NOW, Object, node_object, owner, pod_object
from tests.worlds.dumps import pages_of, write_dump
from tests.worlds.koordinator_workloads import DAEMON_SETS, NUM_NODES, WORKLOADS, Workload, pool_of
from tests.worlds.node_metrics import node_metric_object
from tests.worlds.node_topologies import cpu_layout, topology_object

KOORDINATOR_AT = NOW
"""The moment of the snapshot."""

_CPU, _NUM_GPUS = 16, 2
"""Of each node, and of each node with GPUs."""
_POOL, _TAINTED = "example.com/pool", ("gpu-1", "quota-1", "gang-1", "held-1")
_RESERVED: Mapping[str, Object] = {
    "node-1": {"resources": {"cpu": "4"}},
    "node-3": {"reservedCPUs": "0-1"},
    "node-5": {"resources": {"cpu": "15"}},
    "pin-1": {"resources": {"cpu": "3"}},
}
_CHOSEN_CPUS = {"node-1": "12-15", "node-3": "0-1", "node-5": "1-15", "pin-1": "0-2"}
"""Those of the reservations: koordlet chooses where only an amount is stated."""
_CORDONED = ("pin-1",)
_QUOTAS: Mapping[str, Mapping[str, Any]] = {
    "research": {"min": "12", "max": "40", "labels": {"is-parent": "true"}},
    "vision": {"min": "8", "max": "16", "labels": {"parent": "research"}},
    "speech": {"min": "4", "max": "8", "labels": {"parent": "research"}},
}
_GANGS = {"bert": 4, "resnet": 3}
"""PodGroup → how many pods it needs."""
_DOMAIN = "scheduling.koordinator.sh"


def write_koordinator(out: BinaryIO) -> None:
    """Writes the dump to `out`; always the same bytes."""
    objects = list(koordinator_objects())
    kinds = list(KINDS.values())
    write_dump([(kind, pages_of(kind, objects)) for kind in kinds], out, taken_at=KOORDINATOR_AT, source="made up")


def koordinator_objects() -> Iterator[Object]:
    """All objects of the cluster."""
    for namespace in sorted({"koordinator-system", *(workload.namespace for workload in WORKLOADS)}):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    for node in _nodes():
        yield _node(node)
        yield _node_metric(node)
        yield topology_object(node, cpus=cpu_layout(numa_nodes=2, cores=_CPU // 4), reserved=_CHOSEN_CPUS.get(node, ""))
        yield from (_pod(workload, node, name) for name, workload in _placed(node))
    yield from (_pod(workload, "", name) for name, workload in _placed(""))
    yield from map(_device, filter(_has_gpus, _nodes()))
    yield from (_replica_set(workload) for workload in WORKLOADS)
    yield from (_quota(name, **facts) for name, facts in _QUOTAS.items())
    yield from (_gang(name, minimum) for name, minimum in _GANGS.items())
    yield _reservation("ranker-next", "ranker", "held-2", {"phase": "Available"})
    yield _reservation("ranker-used", "ranker", "held-3", {"phase": "Succeeded", "currentOwners": [_user("ranker-1")]})
    yield _reservation("nightly-next", "nightly", "held-4", {"phase": "Available"})


def _nodes() -> list[str]:
    return [f"{pool}-{number}" for pool, count in NUM_NODES.items() for number in range(1, count + 1)]


def _has_gpus(node: str) -> bool:
    return pool_of(node) == "gpu"


def _placed(node: str) -> Iterator[tuple[str, Workload]]:
    """The pods of a node by name; the pending ones for an empty name."""
    for daemon_set in DAEMON_SETS:
        if node and daemon_set.pool in ("", pool_of(node)):
            yield f"{daemon_set.name}-{node}", daemon_set
    for workload in WORKLOADS:
        yield from (
            (f"{workload.name}-{index}", workload) for index, place in enumerate(workload.places) if place.node == node
        )


def _node(name: str) -> Object:
    gpus = {resource: str(100 * _NUM_GPUS) for resource in _GPU_SHARES} if _has_gpus(name) else {}
    reserved = _RESERVED.get(name)
    return node_object(
        name,
        cpu=str(_CPU),
        memory="64Gi",
        allocatable=gpus,
        labels={_POOL: pool_of(name)},
        annotations={} if reserved is None else {"node.koordinator.sh/reservation": json.dumps(reserved)},
        unschedulable=name in _CORDONED,
        taints=["maintenance=planned:NoSchedule"] if name in _TAINTED else [],
    )


_GPU_SHARES = ("koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio")
_GPU_MEMORY = "koordinator.sh/gpu-memory"


def _device(node: str) -> Object:
    gpus = [
        {
            "type": "gpu",
            "minor": minor,
            "id": f"GPU-{node}-{minor}",
            "health": True,
            "resources": {**dict.fromkeys(_GPU_SHARES, "100"), _GPU_MEMORY: "80Gi"},
        }
        for minor in range(_NUM_GPUS)
    ]
    return {
        "apiVersion": f"{_DOMAIN}/v1alpha1",
        "kind": "Device",
        "metadata": {"name": node},
        "spec": {"devices": gpus},
    }


def _node_metric(node: str) -> Object:
    """Pods use half of what they request."""
    pods = {
        f"{workload.namespace}/{name}": {"cpu": f"{workload.cpu_milli // 2}m", "memory": "512Mi"}
        for name, workload in _placed(node)
    }
    return node_metric_object(node, pods, system={"cpu": "500m", "memory": "2Gi"}, age=40, now=KOORDINATOR_AT)


def _pod(workload: Workload, node: str, name: str) -> Object:
    kind = "DaemonSet" if workload in DAEMON_SETS else "ReplicaSet"
    facts = _template(workload)
    if workload.places:
        place = workload.places[int(name.rpartition("-")[2])]
        facts["annotations"] = {**facts["annotations"], **_annotations(workload, place.minor, place.cpus)}
    if name == "ranker-1":
        facts["annotations"][f"{_DOMAIN}/reservation-allocated"] = json.dumps(_named("ranker-used"))
    facts |= {"phase": "Running" if node else "Pending", "ready": bool(node)}
    return pod_object(name, node=node, age=86400, owners=[owner(f"{kind}/{workload.name}")], **facts)


def _annotations(workload: Workload, minor: int | None, cpus: str) -> Mapping[str, str]:
    """What koord-scheduler has written to a pod: its GPU, its CPUs."""
    written: dict[str, str] = {}
    if minor is not None:
        share = {resource: str(workload.gpu_percent) for resource in _GPU_SHARES}
        resources = {**share, _GPU_MEMORY: f"{80 * workload.gpu_percent // 100}Gi"}
        written[f"{_DOMAIN}/device-allocated"] = json.dumps({"gpu": [{"minor": minor, "resources": resources}]})
    if cpus:
        written[f"{_DOMAIN}/resource-status"] = json.dumps({"cpuset": cpus})
    return written


def _template(workload: Workload) -> dict[str, Any]:
    """What all pods of a workload have in common."""
    requests = {"cpu": f"{workload.cpu_milli}m", "memory": "1Gi"}
    requests |= {resource: str(workload.gpu_percent) for resource in _GPU_SHARES if workload.gpu_percent}
    return {
        "namespace": workload.namespace,
        "requests": requests,
        "limits": requests,
        "labels": {"app": workload.name, **workload.labels},
        "annotations": _asked_cpus(workload),
        "priority": workload.priority,
        "scheduler": "koord-scheduler",
        "node_selector": {_POOL: workload.pool} if workload.pool else None,
        "tolerations": [{"operator": "Exists"}] if workload.tolerates_all else [],
    }


def _asked_cpus(workload: Workload) -> dict[str, str]:
    policy = {"requiredCPUBindPolicy": workload.cpu_policy}
    return {f"{_DOMAIN}/resource-spec": json.dumps(policy)} if workload.cpu_policy else {}


def _replica_set(workload: Workload) -> Object:
    pod = pod_object(workload.name, **_template(workload))
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": workload.name,
            "namespace": workload.namespace,
            "uid": f"replicaset-{workload.name}",
            "generation": 1,
        },
        "spec": {
            "replicas": len(workload.places),
            "selector": {"matchLabels": {"app": workload.name}},
            "template": {"metadata": _only(pod["metadata"], "labels", "annotations"), "spec": spec},
        },
        "status": {"replicas": len(workload.places), "readyReplicas": len(workload.places)},
    }


def _only(metadata: Object, *keys: str) -> Object:
    return {key: metadata[key] for key in keys if metadata.get(key)}


def _quota(name: str, **facts: Any) -> Object:
    labels = {f"{QUOTA_DOMAIN}/{key}": value for key, value in facts["labels"].items()}
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": name, "namespace": "koordinator-system", "labels": labels},
        "spec": {"min": {"cpu": facts["min"]}, "max": {"cpu": facts["max"]}},
    }


def _gang(name: str, minimum: int) -> Object:
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {
            "name": name,
            "namespace": "training",
            "annotations": {"gang.scheduling.koordinator.sh/mode": "Strict"},
        },
        "spec": {"minMember": minimum},
    }


def _named(reservation: str) -> Object:
    return {"name": reservation, "uid": f"reservation-{reservation}"}


def _user(pod: str) -> Object:
    return {"namespace": "search", "name": pod, "uid": f"search-{pod}"}


def _reservation(name: str, app: str, node: str, status: Object) -> Object:
    """A Reservation of 4 CPUs for one pod of a workload."""
    requests = {"cpu": "4", "memory": "1Gi"}
    containers = [{"name": "main", "image": "app:1", "resources": {"requests": requests}}]
    return {
        "apiVersion": f"{_DOMAIN}/v1alpha1",
        "kind": "Reservation",
        "metadata": _named(name),
        "spec": {
            "template": {"spec": {"containers": containers, "schedulerName": "koord-scheduler"}},
            "owners": [{"labelSelector": {"matchLabels": {"app": app}}}],
            "allocateOnce": True,
            "ttl": "0s",
        },
        "status": {"nodeName": node, "allocatable": requests, **status},
    }


def main() -> int:
    """The command; returns the exit code."""
    write_koordinator(sys.stdout.buffer)
    return 0


if __name__ == "__main__":
    sys.exit(main())

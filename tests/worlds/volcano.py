"""A small batch cluster of Volcano as a dump: for each rule a pod that may be evicted, and one that is not evicted.

`python -m tests.worlds.volcano > config/samples/volcano.jsonl.gz` writes the bundled sample. The jobs of each rule have
a pool of nodes of their own, whose first node is tainted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from descheduler.cluster.kinds import KINDS
from descheduler.cycle.request import dumped_annotations
from tests.builders import NOW, Object, node_object, owner, pod_object
from tests.worlds.dumps import pages_of, write_dump
from tests.worlds.volcano_rules import CLOSED_QUEUE, rule_objects

VOLCANO_AT = NOW
"""The moment of the snapshot."""
_NAMESPACE, _POOL = "batch", "example.com/pool"
_GROUP = "scheduling.volcano.sh/v1beta1"
_NUM_NODES = {"gang": 3, "share": 4, "spot": 2}
_QUEUES: Mapping[str, Mapping[str, Any]] = {
    "research": {"weight": 2, "guarantee": {"resource": {"cpu": "16"}}, "reclaimable": False},
    "speech": {"weight": 1, "reclaimable": False},
    "vision": {"weight": 6},
    "spot": {"weight": 1, "reclaimable": True},
}
_JOBS: Mapping[str, tuple[str, int, Sequence[str]]] = {
    "bert": ("research", 4, ("gang-1", "gang-2", "gang-2", "gang-3")),
    "resnet": ("research", 3, ("gang-1", "gang-2", "gang-3", "gang-3")),
    "whisper": (
        "speech",
        1,
        ("share-1", "share-2", "share-2", "share-2", "share-3", "share-3", "share-3", "share-4"),
    ),
    "detect": ("vision", 1, ("share-1", "share-4")),
    "sweep": ("spot", 1, ("spot-1", "spot-2")),
    "segment": ("vision", 30, ("",) * 30),
}
"""Job → queue, how many pods it needs, and the node of each pod; empty for a pending one."""
_CPUS = 2


def write_volcano(out: BinaryIO) -> None:
    """Writes the dump to `out`; always the same bytes."""
    objects = list(volcano_objects())
    kinds = list(KINDS.values())
    lists = [(kind, pages_of(kind, objects)) for kind in kinds]
    write_dump(lists, out, taken_at=VOLCANO_AT, source="made up", annotations=dumped_annotations())


def volcano_objects() -> Iterator[Object]:
    """All objects of the cluster."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}}
    for pool, number in _NUM_NODES.items():
        for index in range(1, number + 1):
            taints = ["maintenance=planned:NoSchedule"] if index == 1 else []
            yield node_object(f"{pool}-{index}", cpu="8", memory="64Gi", labels={_POOL: pool}, taints=taints)
    yield from (_queue(name, spec, "Open") for name, spec in _QUEUES.items())
    yield _queue(CLOSED_QUEUE, {"weight": 1}, "Closed")
    yield from rule_objects(_NAMESPACE, "spot-1")
    for job, (queue, least, nodes) in _JOBS.items():
        yield _pod_group(job, queue, least, is_running=bool(nodes[0]))
        yield _replica_set(job, nodes)
        yield from (_pod(job, index, node) for index, node in enumerate(nodes))


def _queue(name: str, spec: Mapping[str, Any], state: str) -> Object:
    metadata = {"name": name}
    return {"apiVersion": _GROUP, "kind": "Queue", "metadata": metadata, "spec": dict(spec), "status": {"state": state}}


def _pod_group(job: str, queue: str, least: int, *, is_running: bool) -> Object:
    return {
        "apiVersion": _GROUP,
        "kind": "PodGroup",
        "metadata": {"name": job, "namespace": _NAMESPACE},
        "spec": {
            "minMember": least,
            "queue": queue,
            "minResources": {"cpu": str(least * _CPUS), "memory": f"{least}Gi"},
        },
        "status": {"phase": "Running" if is_running else "Pending"},
    }


def _facts(job: str) -> dict[str, Any]:
    """What all pods of a job have in common."""
    pool = {"bert": "gang", "resnet": "gang", "sweep": "spot"}.get(job, "share")
    return {
        "namespace": _NAMESPACE,
        "requests": {"cpu": str(_CPUS), "memory": "1Gi"},
        "labels": {"app": job},
        "annotations": {"scheduling.k8s.io/group-name": job},
        "scheduler": "volcano",
        "node_selector": {_POOL: pool},
    }


def _pod(job: str, index: int, node: str) -> Object:
    phase = "Running" if node else "Pending"
    return pod_object(
        f"{job}-{index}",
        node=node,
        age=86400,
        owners=[owner(f"ReplicaSet/{job}")],
        phase=phase,
        ready=bool(node),
        **_facts(job),
    )


def _replica_set(job: str, nodes: Sequence[str]) -> Object:
    pod = pod_object(job, **_facts(job))
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    metadata = {key: pod["metadata"][key] for key in ("labels", "annotations")}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": job, "namespace": _NAMESPACE, "uid": f"replicaset-{job}", "generation": 1},
        "spec": {
            "replicas": len(nodes),
            "selector": {"matchLabels": {"app": job}},
            "template": {"metadata": metadata, "spec": spec},
        },
        "status": {"replicas": len(nodes), "readyReplicas": sum(map(bool, nodes))},
    }


if __name__ == "__main__":
    write_volcano(sys.stdout.buffer)

"""A small cluster as a dump in which each objective of MigrationPlanner that others lack finds something to do.

`python -m tests.worlds.planning > config/samples/planning.jsonl.gz` writes the bundled sample.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

from descheduler.cluster.kinds import KINDS
from tests.builders import NOW, Object, node_object, owner, pod_object
from tests.worlds.dumps import pages_of, write_dump

PLANNING_AT = NOW
"""The moment of the snapshot."""
_NAMESPACE = "work"


class _Workload(NamedTuple):
    """A ReplicaSet with a pod on each of these nodes; "" for one that is pending."""

    name: str
    nodes: Sequence[str]
    requests: dict[str, str]
    pool: str


_GPU = "nvidia.com/gpu"
_NODES = {
    "room": ("room-1", "room-2", "room-3"),
    "held": ("held-1", "held-2", "held-3"),
    "gpu": ("gpu-1", "gpu-2", "gpu-3"),
    "image": ("image-old", "image-new-1", "image-new-2"),
    "price": ("price-high", "price-low"),
}
_PRICES = {
    "price-high": {"karpenter.sh/capacity-type": "on-demand", "example.com/pool": "gpu"},
    "price-low": {"karpenter.sh/capacity-type": "reserved", "example.com/pool": "cpu"},
}
_WORKLOADS = (
    # 6 CPUs are free on each node; the pending pod requests 10.
    _Workload("api", ("room-1", "room-2", "room-3"), {"cpu": "5"}, "room"),
    _Workload("web", ("room-1", "room-2", "room-3"), {"cpu": "5"}, "room"),
    _Workload("train", ("",), {"cpu": "10"}, "room"),
    # The same for pods of koord-scheduler.
    _Workload("rank", ("held-1", "held-2", "held-3"), {"cpu": "5"}, "held"),
    _Workload("score", ("held-1", "held-2", "held-3"), {"cpu": "5"}, "held"),
    _Workload("learn", ("",), {"cpu": "10"}, "held"),
    # A GPU is free on one node and 3 on another; pods with 4 are usual here.
    _Workload("infer", ("gpu-1", "gpu-1", "gpu-1", "gpu-2"), {"cpu": "1", _GPU: "1"}, "gpu"),
    _Workload("tune", ("gpu-3",), {"cpu": "4", _GPU: "4"}, "gpu"),
    # The node with the old image is cordoned.
    _Workload("shop", ("image-old", "image-new-1"), {"cpu": "2"}, "image"),
    _Workload("cart", ("image-old", "image-new-2"), {"cpu": "2"}, "image"),
    # All of it fits on the cheaper node.
    _Workload("bill", ("price-high", "price-low"), {"cpu": "3500m"}, "price"),
    _Workload("mail", ("price-high", "price-low"), {"cpu": "3500m"}, "price"),
)


def write_planning(out: BinaryIO) -> None:
    """Writes the dump to `out`; always the same bytes."""
    objects = list(_objects())
    write_dump(
        [(kind, pages_of(kind, objects)) for kind in KINDS.values()], out, taken_at=PLANNING_AT, source="made up"
    )


def _objects() -> Iterator[Object]:
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}}
    for pool, names in _NODES.items():
        for name in names:
            image = {"example.com/node-image": "old"} if name == "image-old" else {}
            gpus = {_GPU: "4"} if pool == "gpu" else {}
            yield node_object(
                name,
                cpu="16",
                memory="64Gi",
                allocatable=gpus,
                labels={"pool": pool, **image, **_PRICES.get(name, {})},
                taints=["example.com/price=high:PreferNoSchedule"] if name == "price-high" else (),
                unschedulable=bool(image),
            )
    for workload in _WORKLOADS:
        yield from _pods(workload)


def _pods(workload: _Workload) -> Iterator[Object]:
    labels = {"app": workload.name}
    selector = {"pool": workload.pool}
    owners = [owner(f"ReplicaSet/{workload.name}")]
    for number, node in enumerate(workload.nodes):
        pod = pod_object(
            f"{workload.name}-{number}",
            namespace=_NAMESPACE,
            node=node,
            requests={"memory": "2Gi", **workload.requests},
            limits={_GPU: workload.requests[_GPU]} if _GPU in workload.requests else None,
            labels=labels,
            node_selector=selector,
            owners=owners,
            scheduler="koord-scheduler" if workload.pool == "held" else "default-scheduler",
            age=86400,
            phase="Running" if node else "Pending",
            ready=bool(node),
        )
        if not node:
            del pod["spec"]["nodeName"]
        yield pod
    yield _replica_set(workload, pod)


def _replica_set(workload: _Workload, pod: Object) -> Object:
    labels = {"app": workload.name}
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    replicas = len(workload.nodes)
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": workload.name, "namespace": _NAMESPACE, "uid": f"replicaset-{workload.name}"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
        "status": {"replicas": replicas, "readyReplicas": sum(bool(node) for node in workload.nodes)},
    }


if __name__ == "__main__":
    write_planning(sys.stdout.buffer)

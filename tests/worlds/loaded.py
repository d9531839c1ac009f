"""A small cluster with NodeMetrics of Koordinator, as a dump: two of its six nodes have too much to do.

`python -m tests.worlds.loaded > config/samples/load.jsonl.gz` writes the bundled sample. By requests the two are three
quarters full, which no threshold for requests would mind; what was measured is more than that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from descheduler.cluster.kinds import KINDS
from descheduler.model.koordinator.node_reports import NODE_METRIC_KIND
from tests.builders import NOW, Object, node_object, owner, pod_object
from tests.worlds.dumps import pages_of, write_dump
from tests.worlds.node_metrics import node_metric_object

LOADED_AT = NOW
"""The moment of the snapshot."""

_NODES = tuple(f"node-{number}" for number in range(1, 7))
_HOT = {"node-1": 1.25, "node-4": 1.15}
"""The part of their requests that pods use there; elsewhere they use half."""
_NUM_PODS, _NUM_PODS_HOT = 2, 4
"""Of each workload on a node."""
_CPU_MILLI = {"web": 1500, "api": 1000, "report": 500}
"""What a pod of each workload requests."""
_CLASSES = {"report": "koord-batch"}


def write_loaded(out: BinaryIO) -> None:
    """Writes the dump to `out`; always the same bytes."""
    objects = list(loaded_objects())
    kinds = [kind for kind in KINDS.values() if not kind.is_optional or kind.key == NODE_METRIC_KIND]
    write_dump([(kind, pages_of(kind, objects)) for kind in kinds], out, taken_at=LOADED_AT, source="a made-up cluster")


def loaded_objects() -> Iterator[Object]:
    """All objects of the cluster."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    for name in _NODES:
        yield node_object(name, cpu="16", memory="64Gi")
        yield node_metric_object(name, _usage(name), system={"cpu": "800m", "memory": "3Gi"}, age=40, now=LOADED_AT)
    for workload in _CPU_MILLI:
        yield _replica_set(workload)
        yield from (_pod(workload, node, index) for node in _NODES for index in range(_num_pods(node)))


def _usage(node: str) -> Mapping[str, Mapping[str, str]]:
    factor = _HOT.get(node, 0.5)
    return {
        f"shop/{_name(workload, node, index)}": {
            "cpu": f"{int(cpu_milli * factor * (0.8 + 0.1 * index))}m",
            "memory": f"{int(1024 * factor)}Mi",
        }
        for workload, cpu_milli in _CPU_MILLI.items()
        for index in range(_num_pods(node))
    }


def _pod(workload: str, node: str, index: int) -> Object:
    return pod_object(
        _name(workload, node, index),
        namespace="shop",
        node=node,
        age=86400 + 600 * index,
        owners=[owner(f"ReplicaSet/{workload}")],
        labels=_labels(workload),
        **_requests(workload),
    )


def _num_pods(node: str) -> int:
    return _NUM_PODS_HOT if node in _HOT else _NUM_PODS


def _replica_set(workload: str) -> Object:
    num_pods = sum(map(_num_pods, _NODES))
    pod = pod_object(workload, labels=_labels(workload), **_requests(workload))
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": workload, "namespace": "shop", "uid": f"replicaset-{workload}", "generation": 1},
        "spec": {
            "replicas": num_pods,
            "selector": {"matchLabels": {"app": workload}},
            "template": {"metadata": {"labels": _labels(workload)}, "spec": spec},
        },
        "status": {"replicas": num_pods},
    }


def _requests(workload: str) -> Mapping[str, Any]:
    return {"cpu": f"{_CPU_MILLI[workload]}m", "memory": "1Gi"}


def _labels(workload: str) -> Mapping[str, str]:
    priority_class = _CLASSES.get(workload)
    return {"app": workload} | ({"koordinator.sh/priority-class": priority_class} if priority_class else {})


def _name(workload: str, node: str, index: int) -> str:
    return f"{workload}-{node[-1]}{index}"


def main() -> int:
    """The command; returns the exit code."""
    write_loaded(sys.stdout.buffer)
    return 0


if __name__ == "__main__":
    sys.exit(main())

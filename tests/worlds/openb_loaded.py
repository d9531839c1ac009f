"""The openb trace, placed by best-fit up to a load of its GPUs, as a cluster dump.

`python -m tests.worlds.openb_loaded DATA --load 0.9 > openb90.jsonl.gz`. The cluster is that of `openb_arrays`, with
the device of each pod; pods of equal requests are of one ReplicaSet, and nothing else binds them but the models of
GPUs that they accept.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from descheduler.cluster.kind import AnyKind, kind_key
from descheduler.cluster.kinds import KINDS
from descheduler.optimizer.arrays import PENDING
from tests.builders import NOW, Object, node_object, owner, pod_object, required_node_affinity
from tests.worlds.dumps import write_dump
from tests.worlds.openb_arrays import OpenbWorld, make_openb_world
from tests.worlds.openb_objects import device_object
from tests.worlds.openb_trace import TraceNode, TracePod, read_nodes, read_pods

_NAMESPACE = "openb"
_MODEL = "node.koordinator.sh/gpu-model"
_CORE, _RATIO = "koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio"
_ALLOCATED = "scheduling.koordinator.sh/device-allocated"
_DEVICE = KINDS["Device.scheduling.koordinator.sh"]
_PAGE_SIZE = 500

_Shape = tuple[int, int, int, int, tuple[str, ...]]


def openb_objects(world: OpenbWorld) -> Iterator[Object]:
    """All objects of the cluster of `world`; pod i of it is `pod-<i>`."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}}
    for host in world.hosts:
        yield _node(host)
        if host.num_gpus:
            yield {"apiVersion": _DEVICE.api_version, "kind": _DEVICE.name, **device_object(host)}
    workloads: dict[_Shape, int] = {}
    for number, (pod, node) in enumerate(zip(world.pods, world.problem.assignment.tolist(), strict=True)):
        workload = workloads.setdefault(_shape(pod), len(workloads))
        yield _pod(world, number, node, f"openb-{workload}")
    for shape, workload in workloads.items():
        yield _replica_set(f"openb-{workload}", sum(_shape(pod) == shape for pod in world.pods), shape)


def _shape(pod: TracePod) -> _Shape:
    return pod.cpu_milli, pod.memory_mib, pod.num_gpus, pod.gpu_milli, pod.models


def _node(host: TraceNode) -> Object:
    gpus = {name: str(100 * host.num_gpus) for name in (_CORE, _RATIO)} if host.num_gpus else {}
    labels = {_MODEL: host.model} if host.model else {}
    return node_object(
        host.name, cpu=f"{host.cpu_milli}m", memory=f"{host.memory_mib}Mi", allocatable=gpus, labels=labels
    )


def _pod(world: OpenbWorld, number: int, node: int, workload: str) -> Object:
    pod = world.pods[number]
    host, gpus = ("", ()) if node == PENDING else (world.hosts[world.choices[node][0]].name, world.choices[node][1])
    annotations = {_ALLOCATED: _allocation(pod, gpus)} if gpus else {}
    return pod_object(
        f"pod-{number}",
        namespace=_NAMESPACE,
        node=host,
        owners=[owner(f"ReplicaSet/{workload}")],
        phase="Running" if host else "Pending",
        ready=bool(host),
        annotations=annotations,
        **_facts(workload, _shape(pod)),
    )


def _facts(workload: str, shape: _Shape) -> Object:
    """What a pod of the shape has in common with its template."""
    cpu_milli, memory_mib, num_gpus, gpu_milli, models = shape
    share = str(num_gpus * _percent(gpu_milli))
    gpus = {_CORE: share, _RATIO: share} if num_gpus else {}
    requests = {"cpu": f"{cpu_milli}m", "memory": f"{memory_mib}Mi", **gpus}
    affinity = {"affinity": required_node_affinity(_MODEL, *models)} if models else {}
    return {"labels": {"app": workload}, "requests": requests, "scheduler": "koord-scheduler", **affinity}


def _percent(gpu_milli: int) -> int:
    """Hundredths of one GPU, rounded up."""
    return -(-gpu_milli // 10)


def _allocation(pod: TracePod, gpus: Sequence[int]) -> str:
    share = str(_percent(pod.gpu_milli))
    return json.dumps({"gpu": [{"minor": minor, "resources": {_CORE: share, _RATIO: share}} for minor in gpus]})


def _replica_set(name: str, replicas: int, shape: _Shape) -> Object:
    pod = pod_object(name, **_facts(name, shape))
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": _NAMESPACE, "uid": f"replicaset-{name}", "generation": 1},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": spec},
        },
        "status": {"replicas": replicas},
    }


def write_openb_loaded(world: OpenbWorld, out: BinaryIO) -> None:
    """Writes the dump to `out`; the same world gives the same bytes."""
    objects = list(openb_objects(world))
    kinds = [kind for kind in KINDS.values() if not kind.is_optional or kind.key == _DEVICE.key]
    lists = [(kind, _pages(kind, objects)) for kind in kinds]
    write_dump(lists, out, taken_at=NOW, source="openb trace, placed by best-fit")


def _pages(kind: AnyKind, objects: Iterable[Object]) -> Iterator[bytes]:
    items = [item for item in objects if kind_key(item["kind"], item["apiVersion"]) == kind.key]
    for start in range(0, len(items), _PAGE_SIZE):
        page = {"kind": f"{kind.name}List", "apiVersion": kind.api_version, "items": items[start : start + _PAGE_SIZE]}
        yield msgspec.json.encode(page)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(description="Writes the openb trace, placed by best-fit, to standard output.")
    parser.add_argument("data", type=Path, help="folder with the CSV files of the trace")
    parser.add_argument("--load", type=float, default=0.9, help="of the GPUs, as pods request them")
    parser.add_argument("--seed", type=int, default=0, help="of the order in which pods come")
    options = parser.parse_args(arguments)
    nodes = read_nodes(options.data / "openb_node_list_gpu_node.csv.gz")
    pods = read_pods(options.data / "openb_pod_list_default.csv.gz")
    write_openb_loaded(make_openb_world(nodes, pods, load=options.load, seed=options.seed), sys.stdout.buffer)
    return 0


if __name__ == "__main__":
    sys.exit(main())

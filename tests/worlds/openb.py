"""The openb trace as a cluster dump.

`python -m tests.worlds.openb NODES.csv.gz PODS.csv.gz --seed 1 > openb.jsonl.gz` writes the bundled sample. The
trace names neither nodes, owners, zones nor taints of its pods: `openb_placement` and `openb_objects` state the rules
that fill them in. GPU pods ask for `koordinator.sh/gpu-core` and `koordinator.sh/gpu-memory-ratio`, 100 a device.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

from descheduler.cluster.kind import AnyKind
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.snapshot import SnapshotError
from tests.worlds.dumps import write_dump
from tests.worlds.openb_objects import (
    TRACE_AT,
    Group,
    budget_object,
    device_object,
    group_pods,
    node_object,
    pod_object,
    workload_object,
)
from tests.worlds.openb_placement import place_pods
from tests.worlds.openb_trace import TraceNode, TracePod, read_nodes, read_pods

JsonObject = dict[str, object]

_PAGE_SIZE = 500
_DEVICE = KINDS["Device.scheduling.koordinator.sh"]


@dataclass(frozen=True)
class _Cluster:
    nodes: Sequence[TraceNode]
    groups: Sequence[Group]
    pods: Sequence[JsonObject]
    seed: int

    def objects(self, kind: AnyKind) -> Iterable[JsonObject]:
        """All objects of a kind."""
        rng = random.Random(self.seed)
        match kind.name:
            case "Node":
                return (node_object(node, index, rng) for index, node in enumerate(self.nodes))
            case "Pod":
                return self.pods
            case "Device":
                return (device_object(node) for node in self.nodes if node.num_gpus)
            case "Namespace":
                names = ("batch", "online", "shared")
                return ({"metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}}} for name in names)
            case "PriorityClass":
                values = {"latency-sensitive": 1000, "best-effort": -100}
                return ({"metadata": {"name": name}, "value": value} for name, value in values.items())
            case "ReplicaSet" | "Deployment":
                return (workload_object(group, kind.name) for group in self.groups)
            case "PodDisruptionBudget":
                return self._budgets()
            case _:
                return ()

    def _budgets(self) -> Iterator[JsonObject]:
        ready = {pod["metadata"]["name"] for pod in self.pods if _is_ready(pod)}  # type: ignore[index] # made here
        for group in self.groups:
            budget = budget_object(group, sum(pod.name in ready for pod in group.pods))
            if budget is not None:
                yield budget


def _is_ready(pod: JsonObject) -> bool:
    condition = pod["status"]["conditions"][0]  # type: ignore[index] # made by pod_object
    return bool(condition["type"] == "Ready" and condition["status"] == "True")


def openb_lists(
    nodes: Sequence[TraceNode], pods: Sequence[TracePod], *, seed: int
) -> list[tuple[AnyKind, Iterator[bytes]]]:
    """Each kind with the pages of its list; the same trace and seed give the same bytes."""
    rng = random.Random(seed)
    placements = dict(zip((pod.name for pod in pods), place_pods(nodes, pods, rng), strict=True))
    groups = group_pods(pods, rng)
    objects = [pod_object(pod, group, placements[pod.name], rng) for group in groups for pod in group.pods]
    cluster = _Cluster(nodes, groups, objects, seed)
    kinds = (*(kind for kind in KINDS.values() if not kind.is_optional), _DEVICE)
    return [(kind, _pages(kind, cluster.objects(kind))) for kind in kinds]


def _pages(kind: AnyKind, objects: Iterable[JsonObject]) -> Iterator[bytes]:
    items = list(objects)
    for start in range(0, len(items), _PAGE_SIZE):
        page = {"kind": f"{kind.name}List", "apiVersion": kind.api_version, "items": items[start : start + _PAGE_SIZE]}
        yield msgspec.json.encode(page)


def write_openb(nodes: Path, pods: Path, out: BinaryIO, *, seed: int) -> None:
    """Writes the dump of a node list and a pod list to `out`. Raises SnapshotError for files that are no such lists."""
    lists = openb_lists(read_nodes(nodes), read_pods(pods), seed=seed)
    write_dump(lists, out, taken_at=TRACE_AT, source=f"openb trace, {pods.name}, seed {seed}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(description="Writes the openb trace as a dump to standard output.")
    parser.add_argument("nodes", type=Path, help="node list, CSV, plain or gzip")
    parser.add_argument("pods", type=Path, help="pod list, CSV, plain or gzip")
    parser.add_argument("--seed", type=int, default=1, help="of the placement and everything else that is drawn")
    options = parser.parse_args(arguments)
    try:
        write_openb(options.nodes, options.pods, sys.stdout.buffer, seed=options.seed)
    except SnapshotError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

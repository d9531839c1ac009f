"""The openb trace as values: nodes and pods of an Alibaba GPU-sharing cluster, from its CSV files.

Published with Weng et al., "Beware of Fragmentation", USENIX ATC 2023, in hkust-adsl/kubernetes-scheduler-simulator.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from descheduler.cluster.snapshot import SnapshotError


@dataclass(frozen=True, slots=True)
class TraceNode:
    """A machine. `model` is that of its GPUs, empty without any."""

    name: str
    cpu_milli: int
    memory_mib: int
    num_gpus: int
    model: str


@dataclass(frozen=True, slots=True)
class TracePod:
    """A submitted pod. `gpu_milli` is asked of each of `num_gpus` devices; `models` are those it accepts, () for any.

    `created_seconds` is on the clock of the trace; `phase` is that at the time of collection.
    """

    name: str
    cpu_milli: int
    memory_mib: int
    num_gpus: int
    gpu_milli: int
    models: tuple[str, ...]
    qos: str
    phase: str
    created_seconds: int


def read_nodes(path: Path) -> list[TraceNode]:
    """The machines of a node list, plain or gzip. Raises SnapshotError naming the row that cannot be read."""
    return [
        TraceNode(row["sn"], int(row["cpu_milli"]), int(row["memory_mib"]), int(row["gpu"]), row["model"])
        for row in _rows(path, ("sn", "cpu_milli", "memory_mib", "gpu", "model"))
    ]


def read_pods(path: Path) -> list[TracePod]:
    """The pods of a pod list, plain or gzip, in order of creation. Lists without the further columns run as one batch.

    Raises SnapshotError naming the row that cannot be read.
    """
    pods = [
        TracePod(
            name=row["name"],
            cpu_milli=int(row["cpu_milli"]),
            memory_mib=int(row["memory_mib"]),
            num_gpus=int(row["num_gpu"]),
            gpu_milli=int(row["gpu_milli"]),
            models=tuple(model for model in row.get("gpu_spec", "").split("|") if model),
            qos=row.get("qos", "LS"),
            phase=row.get("pod_phase", "Running"),
            created_seconds=int(row.get("creation_time", "0")),
        )
        for row in _rows(path, ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"))
    ]
    return sorted(pods, key=lambda pod: (pod.created_seconds, pod.name))


_NUMBERS = ("cpu_milli", "memory_mib", "gpu", "num_gpu", "gpu_milli", "creation_time")


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[Mapping[str, str]]:
    try:
        is_gzip = path.open("rb").read(2) == b"\x1f\x8b"
        with gzip.open(path, "rt", newline="") if is_gzip else path.open(newline="") as text:
            reader = csv.DictReader(text)
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing:
                raise SnapshotError(f"{path}: no column {', '.join(missing)}; is this the right file of the trace")
            for row in reader:
                for name in _NUMBERS:
                    if name in row and not (row[name] or "").isdigit():
                        raise SnapshotError(f"{path}:{reader.line_num}: {name} is {row[name]!r}, not a number")
                yield row
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise SnapshotError(f"{path}: cannot be read: {error}") from error

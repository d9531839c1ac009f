"""Recorded cases as compressed JSON Lines, in the shape of the scheduler vectors in `sequence` mode."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tests.e2e.judge.case import Case
from tests.e2e.judge.ruling import Ruling
from tests.e2e.judge.seats import SchedulerKind
from tests.e2e.kube_api import Object

_METADATA = ("name", "namespace", "labels", "annotations", "ownerReferences")
_NOISE = frozenset(
    {
        "dnsPolicy",
        "enableServiceLinks",
        "restartPolicy",
        "schedulerName",
        "securityContext",
        "terminationGracePeriodSeconds",
    }
)
_CONTAINER_NOISE = frozenset({"imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy"})


def recorded(case: Case, seat: SchedulerKind, rulings: Sequence[tuple[Ruling, Object]]) -> Object:
    """One case with the scheduler's answers, as plain data.

    `expect` holds for each candidate `bound_to`, or `reason`, `message` and `nodes` (reason → number of nodes).
    """
    return {
        "id": f"judge-{case.seed}",
        "class": "judge",
        "kubernetes": seat.version,
        "scheduler": seat.name,
        "mode": "sequence",
        "nodes": list(case.world.nodes),
        "pods": list(case.world.pods),
        "objects": list(case.world.objects),
        "candidates": [_trimmed(stored) for _, stored in rulings],
        "features": [list(candidate.features) for candidate in case.candidates],
        "expect": [_expectation(ruling) for ruling, _ in rulings],
    }


def write_cases(file: Path, cases: Iterable[Object]) -> int:
    """Writes one case a line, gzip-compressed, equal bytes for equal cases; returns how many there were."""
    written = 0
    with file.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed:
        for case in cases:
            packed.write(msgspec.json.encode(case) + b"\n")
            written += 1
    return written


def read_cases(file: Path) -> Iterator[Object]:
    """The cases of a file written by `write_cases`, or of any other file of that shape."""
    with gzip.open(file, "rb") as lines:
        for line in lines:
            yield msgspec.json.decode(line)


def _expectation(ruling: Ruling) -> Object:
    if ruling.node is not None:
        return {"pod": ruling.pod, "bound_to": ruling.node}
    return {
        "pod": ruling.pod,
        "reason": ruling.reason,
        "message": ruling.message,
        "nodes": dict(ruling.node_reasons),
    }


def _trimmed(pod: Object) -> Object:
    """The stored pod without what says nothing about placement."""
    metadata = {key: pod["metadata"][key] for key in _METADATA if key in pod["metadata"]}
    spec: dict[str, Any] = {key: value for key, value in pod["spec"].items() if key not in _NOISE}
    for part in ("initContainers", "containers"):
        if part in spec:
            spec[part] = [_trimmed_container(container, is_init=part == "initContainers") for container in spec[part]]
    return {"metadata": metadata, "spec": spec}


def _trimmed_container(container: Object, *, is_init: bool) -> Object:
    noise = _CONTAINER_NOISE if is_init else _CONTAINER_NOISE | {"restartPolicy"}
    return {key: value for key, value in container.items() if key not in noise}

"""`python -m tests.bench.devices [--nodes N]`: a cluster in which each node has 8 devices of resource claims.

Six of them have pods, each with a claim of its own from one template, and on every fiftieth node one is tainted.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.kind import kind_key
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.placement.prover import LandingProver
from tests.bench.measure import command, in_own_process, megabytes, resident_bytes
from tests.builders import NOW, Object, node_object, owner, pod_object
from tests.placement.plugins.dynamic_resources.worlds import claim, device, device_class, request, slice_of, template
from tests.placement.workloads import workload_object
from tests.worlds.dumps import write_dump

_DEVICES, _IN_USE, _PODS_A_WORKLOAD, _TAINTED = 8, 6, 60, 50
_JUDGED, _PAGE = 100, 5000
_MODEL = "device.attributes['gpu.example.com'].model == 'A'"
_SICK = {"key": "gpu.example.com/unhealthy", "effect": "NoSchedule"}
_PROFILE = Path("config/profiles/dra.yaml")
_SPEC: Object = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpus"}]}


def report(num_nodes: int) -> None:
    """Prints the size of the dump, the CPU seconds of reading it and of a verdict, and what a dry run takes."""
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "devices.jsonl.gz"
        in_own_process(_write, str(dump), num_nodes)
        seconds, size, first, verdict = in_own_process(_load_and_judge, str(dump)).figures
        print(
            f"{num_nodes:,} nodes with {_DEVICES} devices each, {num_nodes * _IN_USE:,} pods with claims:"
            f" dump {dump.stat().st_size / 1e6:,.1f} MB compressed,"
            f" read in {seconds:.1f} s CPU to {megabytes(int(size))};"
            f" first verdict {first * 1e3:,.0f} ms CPU, each later one {verdict * 1e3:.2f} ms"
        )
        arguments = ["run", "--policy-config-file", str(_PROFILE), "--snapshot", str(dump), "--now", NOW.isoformat()]
        used = command(arguments)
        print(
            f"dry run of {_PROFILE}: {used.wall_seconds:.1f} s wall, {used.cpu_seconds:.1f} s CPU,"
            f" {megabytes(used.peak_bytes)} peak"
        )


def _write(path: str, num_nodes: int) -> Sequence[float]:
    """Writes the dump; no figures."""
    pages = [(KINDS[key], _pages([*items])) for key, items in groupby(_objects(num_nodes), key=_kind_of)]
    with Path(path).open("wb") as out:
        write_dump(pages, out, taken_at=NOW)
    return ()


def _kind_of(item: Object) -> str:
    return kind_key(item["kind"], item["apiVersion"])


def _pages(items: Sequence[Object]) -> Iterator[bytes]:
    kind, version = items[0]["kind"], items[0]["apiVersion"]
    for first in range(0, len(items), _PAGE):
        page = {"kind": f"{kind}List", "apiVersion": version, "items": items[first : first + _PAGE]}
        yield msgspec.json.encode(page)


def _objects(num_nodes: int) -> Iterator[Object]:
    """All objects, those of one kind together."""
    nodes = [f"n{number:05}" for number in range(num_nodes)]
    pods = [(f"p{place}-{node}", node, place) for node in nodes for place in range(_IN_USE)]
    owners = [f"web{number // _PODS_A_WORKLOAD}" for number in range(len(pods))]
    yield from (node_object(name, cpu="64", memory="512Gi") for name in nodes)
    for (name, node, _), app in zip(pods, owners, strict=True):
        yield _pod(name, node, app)
    for app in dict.fromkeys(owners):
        yield workload_object(f"ReplicaSet/{app}", replicas=_PODS_A_WORKLOAD, template=pod_object("t", spec=_SPEC))
    yield from (_slice(number, name) for number, name in enumerate(nodes))
    for name, node, place in pods:
        yield _claim(name, node, f"d{place}")
    yield device_class("gpu", _MODEL)
    yield template("gpus", request("r"))


def _pod(name: str, node: str, app: str) -> Object:
    made = pod_object(name, node=node, cpu="4", memory="16Gi", owners=[owner(f"ReplicaSet/{app}")], spec=_SPEC)
    status = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": f"{name}-gpu"}]}
    return {**made, "status": {**made.get("status", {}), **status}}


def _slice(number: int, node: str) -> Object:
    sick = [_SICK] if number % _TAINTED == 0 else []
    capacity = {"memory": {"value": "80Gi"}}
    devices = (
        device(f"d{place}", {"model": "A", "index": place}, capacity=capacity, taints=[] if place else sick)
        for place in range(_DEVICES)
    )
    return slice_of(node, *devices)


def _claim(pod: str, node: str, name: str) -> Object:
    uid = f"default-{pod}"
    holder = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid, "controller": True}
    return claim(f"{pod}-gpu", request("r"), devices=[name], node=node, consumers=[uid], ownerReferences=[holder])


def _load_and_judge(dump: str) -> Sequence[float]:
    """CPU seconds and bytes of reading, and seconds of the first verdict and of a later one."""
    before, started = resident_bytes(), time.process_time()
    snapshot = read_dump([Path(dump)], SnapshotRequest(keep_conditions=False, keep_templates=True))
    seconds = time.process_time() - started
    gc.collect()
    return seconds, resident_bytes() - before, *_judging_seconds(snapshot)


def _judging_seconds(snapshot: Snapshot) -> Sequence[float]:
    """CPU seconds of the first verdict, for which everything is looked at once, and of each of those that follow."""
    victims = list(snapshot.pods)[:: max(1, len(snapshot.pods) // _JUDGED)][:_JUDGED]
    prover, started = LandingProver(snapshot), time.process_time()
    prover.consider(victims[0])
    first, started = time.process_time() - started, time.process_time()
    for victim in victims[1:]:
        prover.consider(victim)
    return first, (time.process_time() - started) / (len(victims) - 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.devices")
    parser.add_argument("--nodes", type=int, default=5000)
    report(parser.parse_args().nodes)

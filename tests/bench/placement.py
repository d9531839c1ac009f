"""The placement engine: how fast a shadow cluster is built, asked and filled."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.prover import LandingProver
from descheduler.placement.replacements.replacement import ReplacementMaker
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.bench.measure import in_own_process, megabytes, resident_bytes
from tests.builders import decode_pod, pod_object
from tests.placement.default_scheduler import default_scheduler
from tests.worlds.generate import generate_cluster

_BATCH = 1000
_REPEATS = 200


def report(dump: Path, *, largest: int) -> None:
    """Prints building, single what-ifs and a batch, on the dump and on a cluster of `largest` nodes."""
    build = in_own_process(_build, str(dump)).figures
    print(f"snapshot to shadow cluster: {build[0]:.2f} s, {megabytes(int(build[1]))} more")
    _report_questions(*in_own_process(_ask_dump, str(dump)).figures)
    _report_questions(*in_own_process(_ask_generated, largest).figures)


def _report_questions(num_nodes: float, what_if: float, with_all: float, consider: float, batch: float) -> None:
    print(f"{num_nodes:,.0f} nodes, all filters:")
    print(
        f"  one what-if: {what_if * 1e3:.2f} ms for pods of the cluster, {with_all * 1e3:.2f} ms with every constraint"
    )
    print(f"  one eviction judged (both clocks, scores): {consider * 1e3:.2f} ms")
    print(f"  {_BATCH:,} pods scored and placed: {batch:.2f} s")


def _build(dump: str) -> Sequence[float]:
    snapshot = read_dump([Path(dump)], SnapshotRequest(keep_conditions=False, keep_templates=True))
    gc.collect()
    before = resident_bytes()
    started = time.perf_counter()
    cluster = ShadowCluster(snapshot)
    scheduler = default_scheduler(cluster)
    # Followers are built at their first use, so a pod that needs all of them belongs to building.
    scheduler.evaluate(_demanding_pod())
    seconds = time.perf_counter() - started
    return seconds, resident_bytes() - before


def _ask_dump(dump: str) -> Sequence[float]:
    return _ask(read_dump([Path(dump)], SnapshotRequest(keep_conditions=False, keep_templates=True)))


def _ask_generated(num_nodes: int) -> Sequence[float]:
    builder = SnapshotBuilder("generated", SnapshotRequest(keep_conditions=False, keep_templates=True))
    for page in generate_cluster(nodes=num_nodes, pods=num_nodes * 10, seed=1):
        builder.add_object(page)
    return _ask(builder.finish())


def _ask(snapshot: Snapshot) -> Sequence[float]:
    scheduler = default_scheduler(ShadowCluster(snapshot))
    pods = list(_unbound(snapshot))
    demanding = _demanding_pod()
    what_if = _mean_seconds(scheduler, pods[:_REPEATS])
    with_all = _mean_seconds(scheduler, [demanding] * _REPEATS)
    started = time.perf_counter()
    for pod in pods[:_BATCH]:
        evaluation = scheduler.evaluate(pod)
        choice = evaluation.choose()
        if choice is not None:
            scheduler.place(evaluation, choice.node)
    batch = time.perf_counter() - started
    return len(snapshot.nodes), what_if, with_all, _judging_seconds(snapshot), batch


def _mean_seconds(scheduler: Scheduler, pods: Sequence[Pod]) -> float:
    """Seconds an evaluation, once the plugins have seen every class."""
    for pod in pods:
        scheduler.evaluate(pod)
    started = time.perf_counter()
    for pod in pods:
        scheduler.evaluate(pod)
    return (time.perf_counter() - started) / len(pods)


def _judging_seconds(snapshot: Snapshot) -> float:
    prover = LandingProver(snapshot)
    victims = list(_movable(snapshot))[: 2 * _REPEATS]
    prover.consider(victims[0])
    started = time.perf_counter()
    for victim in victims[_REPEATS:]:
        prover.consider(victim)
    return (time.perf_counter() - started) / _REPEATS


def _movable(snapshot: Snapshot) -> Iterator[Pod]:
    """Pods spread evenly over the cluster's workloads."""
    pods = [pod for pod in snapshot.pods if pod.node_name and not pod.is_terminal and pod.controller is not None]
    movable = [pod for pod in pods if pod.controller is not None and pod.controller.kind == "ReplicaSet"]
    order = np.random.default_rng(1).permutation(len(movable))
    return (movable[index] for index in order)


def _unbound(snapshot: Snapshot) -> Iterator[Pod]:
    """The same pods as they look for a node."""
    maker = ReplacementMaker(snapshot)
    made = (maker.replacement_of(victim).pod for victim in _movable(snapshot))
    return (pod for pod in made if pod is not None)


def _demanding_pod() -> Pod:
    """A pod that no filter of the default profile passes over, volumes aside."""
    app = {"matchLabels": {"app": "service-11"}}
    zone, host = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
    required, hard = "requiredDuringSchedulingIgnoredDuringExecution", "DoNotSchedule"
    pool = {"key": "node.example.com/pool", "operator": "Exists"}
    pod = pod_object(
        "demanding",
        node="",
        namespace="team-11",
        cpu="100m",
        memory="128Mi",
        labels={"app": "service-11"},
        tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}],
        spread=[
            {"maxSkew": 500, "topologyKey": zone, "whenUnsatisfiable": hard, "labelSelector": app},
            {"maxSkew": 500, "topologyKey": host, "whenUnsatisfiable": hard, "labelSelector": app},
        ],
        affinity={
            "nodeAffinity": {required: {"nodeSelectorTerms": [{"matchExpressions": [pool]}]}},
            "podAffinity": {required: [{"topologyKey": zone, "labelSelector": app}]},
            "podAntiAffinity": {required: [{"topologyKey": host, "labelSelector": {"matchLabels": {"app": "none"}}}]},
        },
        containers=[
            {
                "name": "main",
                "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
                "ports": [{"containerPort": 80, "hostPort": 8080}],
            }
        ],
    )
    return decode_pod(pod)

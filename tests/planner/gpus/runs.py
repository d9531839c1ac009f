"""Small clusters with GPUs that Koordinator hands out, and runs of MigrationPlanner over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from tests.builders import NOW, Object, node_object
from tests.placement.plugins.device_share.worlds import CORE, RATIO, device_object, gpu, gpu_pod, snapshot_of
from tests.planner.runs import verified

_PACKING = Path(__file__).resolve().parents[3] / "config" / "schedulers" / "koord-scheduler-gpus.yaml"


def gpu_node(name: str, gpus: int = 2, *, cpu: str = "64") -> list[Object]:
    """A node with so many GPUs, and its Device."""
    offered = {CORE: str(100 * gpus), RATIO: str(100 * gpus)}
    return [
        node_object(name, cpu=cpu, memory="512Gi", allocatable=offered),
        device_object(name, *(gpu(minor) for minor in range(gpus))),
    ]


def shared_pod(name: str, node: str, percent: int, *minors: int, cpu: str = "1", **facts: Any) -> Object:
    """A pod that has `percent` of each of the GPUs `minors` of the node."""
    has = {"gpu": [{"minor": minor, "resources": _each(percent)} for minor in minors]}
    requests = {"cpu": cpu, **_each(percent * len(minors))}
    return gpu_pod(name, requests, node=node, has=has, scheduler="koord-scheduler", **facts)


def pending_pod(name: str, percent: int, *, number: int = 1, cpu: str = "1", **facts: Any) -> Object:
    """A pod that waits for `percent` of each of so many GPUs."""
    return gpu_pod(name, {"cpu": cpu, **_each(percent * number)}, scheduler="koord-scheduler", **facts)


def _each(percent: int) -> Mapping[str, str]:
    return {CORE: str(percent), RATIO: str(percent)}


def gpu_snapshot(nodes: Iterable[Sequence[Object]], pods: Sequence[Object]) -> Snapshot:
    """The cluster of nodes as `gpu_node` gives them."""
    return snapshot_of([*(part for node in nodes for part in node), *pods])


def prover_of(snapshot: Snapshot) -> LandingProver:
    """What knows where replacements land under a koord-scheduler that prefers GPUs that are in use."""
    return LandingProver(snapshot, configuration=load_scheduler_configuration(_PACKING, plugins=PLUGINS))


def run_gpus(
    objective: Object, nodes: Iterable[Sequence[Object]], pods: Sequence[Object], *, packs: bool = True
) -> Decisions:
    """What MigrationPlanner decides; `packs`: koord-scheduler prefers GPUs that are in use."""
    planner: Object = {"objectives": [objective], "timeLimit": "60s", "workLimit": 1}
    config = _PACKING if packs else _PACKING.with_name("koord-scheduler.yaml")
    policy = verified(planner, scheduler=config)
    snapshot = gpu_snapshot(nodes, pods)
    return decide(load_policy(policy, REGISTRY), snapshot, now=NOW, setting=RunSetting(processed_nodes=snapshot.nodes))

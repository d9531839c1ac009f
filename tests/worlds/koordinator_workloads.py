"""The workloads of the Koordinator sample, pool by pool: what is where, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from descheduler.model.koordinator.elastic_quota import QUOTA_DOMAIN
from descheduler.model.koordinator.gang_settings import POD_GROUP_LABEL

NUM_NODES = {"gpu": 6, "quota": 5, "gang": 5, "held": 4, "node": 5, "pin": 3}
"""Nodes by pool."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a pod runs, and what koord-scheduler gave it there; it is pending without a node."""

    node: str
    minor: int | None = None
    cpus: str = ""


@dataclass(frozen=True, slots=True)
class Workload:
    """A ReplicaSet with a pod at each of `places`, or a DaemonSet; for the nodes of `pool`, of all if that is empty."""

    name: str
    namespace: str
    pool: str
    cpu_milli: int
    places: tuple[Place, ...] = ()
    gpu_percent: int = 0
    priority: int = 9000
    labels: Mapping[str, str] = field(default_factory=dict)
    tolerates_all: bool = False
    cpu_policy: str = ""
    """By which its CPUs must be chosen."""


def pool_of(node: str) -> str:
    """The pool of a node."""
    return node.partition("-")[0]


def _at(*nodes: str) -> tuple[Place, ...]:
    return tuple(map(Place, nodes))


def _on_gpus(*places: tuple[str, int]) -> tuple[Place, ...]:
    return tuple(Place(node, minor) for node, minor in places)


def _first_nodes(pool: str, count: int) -> tuple[Place, ...]:
    return _at(*(f"{pool}-{number}" for number in range(1, count + 1)))


def _web() -> Iterable[Workload]:
    """Four small pods on nearly every node, whose presence changes nothing."""
    for pool, count in NUM_NODES.items():
        places = _first_nodes(pool, count - (pool == "node")) * 4
        yield Workload(f"web-{pool}", "web", pool, 100, places, priority=9500, tolerates_all=True)


DAEMON_SETS = (
    Workload("koordlet", "koordinator-system", "", 100, tolerates_all=True),
    Workload("node-exporter", "koordinator-system", "", 100, tolerates_all=True),
    Workload("storage", "koordinator-system", "node", 2000, tolerates_all=True),
)
"""`storage` alone requests more than node-5 has left beside what is reserved there."""

_PINNED = {"koordinator.sh/qosClass": "LSR"}
WORKLOADS = (
    # Half of a GPU is free on many nodes, and nowhere a whole one.
    Workload(
        "infer",
        "serving",
        "gpu",
        500,
        _on_gpus(
            ("gpu-1", 0),
            ("gpu-2", 1),
            ("gpu-3", 1),
            ("gpu-4", 1),
            ("gpu-5", 0),
            ("gpu-5", 1),
            ("gpu-6", 0),
            ("gpu-6", 1),
        ),
        gpu_percent=50,
    ),
    Workload(
        "finetune",
        "serving",
        "gpu",
        500,
        _on_gpus(("gpu-1", 1), ("gpu-2", 0), ("gpu-3", 0), ("gpu-4", 0)),
        gpu_percent=100,
    ),
    # The quota of `speech` has a max of 8 CPUs, and its pods request 12.
    Workload("vision", "research", "quota", 2000, _first_nodes("quota", 4), labels={f"{QUOTA_DOMAIN}/name": "vision"}),
    Workload("speech", "research", "quota", 3000, _first_nodes("quota", 4), labels={f"{QUOTA_DOMAIN}/name": "speech"}),
    # Each gang has 4 pods; `bert` needs all of them, `resnet` three.
    Workload("bert", "training", "gang", 4000, _first_nodes("gang", 4), labels={POD_GROUP_LABEL: "bert"}),
    Workload("resnet", "training", "gang", 4000, _first_nodes("gang", 4), labels={POD_GROUP_LABEL: "resnet"}),
    # Less than 4 CPUs are free on held-2 to held-4, beside those that Reservations hold for `ranker` and `nightly`.
    Workload("ranker", "search", "held", 4000, _at("held-1", "held-3", "held-4")),
    Workload("nightly", "search", "held", 4000, _at("")),
    Workload("indexer", "search", "held", 4000, _at("held-1", "held-2", "held-2", "held-3")),
    Workload("catalog", "search", "held", 4000, _at("held-3", "held-4")),
    # node-1 reserves 4 CPUs, and its pods request 12.6 of the 12 that are left; node-3 reserves CPUs of a pinned pod.
    Workload("cache", "apps", "node", 2000, _at(*["node-1"] * 5, *["node-2"] * 3)),
    Workload(
        "solver",
        "apps",
        "node",
        4000,
        (Place("node-3", cpus="0-3"), Place("node-3", cpus="4-7"), Place("node-4", cpus="0-3")),
        labels=_PINNED,
    ),
    # pin-1 reserves an amount, for which koordlet has chosen CPUs; elsewhere CPUs are free, but one whole core only.
    Workload(
        "encoder",
        "video",
        "pin",
        4000,
        (Place("pin-1", cpus="0-1,8-9"), Place("pin-3", cpus="0-1,3,5")),
        labels=_PINNED,
    ),
    Workload(
        "renderer",
        "video",
        "pin",
        4000,
        (Place("pin-1", cpus="2-5"), Place("pin-1", cpus="10-13")),
        labels=_PINNED,
        cpu_policy="FullPCPUs",
    ),
    Workload(
        "sensor",
        "video",
        "pin",
        7000,
        (Place("pin-2", cpus="2,4,6,8,10,12,14"), Place("pin-3", cpus="2,4,6,8,10,12,14")),
        labels=_PINNED,
        cpu_policy="SpreadByPCPUs",
    ),
    Workload("report", "apps", "node", 1000, _at("node-5", "node-2", "node-2")),
    *_web(),
)

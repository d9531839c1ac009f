"""Nodes of a synthetic cluster: four pools, three zones, and a few that are cordoned, not ready or newly tainted."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

JsonObject = dict[str, object]

GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
DEDICATED_TAINT = {"key": "dedicated", "value": "infra", "effect": "NoSchedule"}
_NOT_READY_TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
_CORDON_TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


@dataclass(frozen=True, slots=True)
class Pool:
    """A kind of machine, and the share of the nodes (0-1) that are of it."""

    name: str
    share_ratio: float
    cpu_milli: int
    memory_mib: int
    num_gpus: int
    instance_type: str


POOLS = (
    Pool("general", 0.60, 15890, 60_000, 0, "m5.4xlarge"),
    Pool("memory", 0.20, 15890, 124_000, 0, "r5.4xlarge"),
    Pool("compute", 0.15, 31850, 60_000, 0, "c5.8xlarge"),
    Pool("gpu", 0.05, 31850, 240_000, 4, "g5.8xlarge"),
)
ZONES = ("eu-west-1a", "eu-west-1b", "eu-west-1c")


@dataclass(slots=True)
class Place:
    """A node and the room left on it. `weight` is how much pods like it (1 is usual): clusters are never even."""

    index: int
    name: str
    pool: Pool
    zone: str
    weight: float
    trouble: str
    cpu_free: int = field(init=False)
    memory_free: int = field(init=False)
    pods_free: int = field(default=110, init=False)

    def __post_init__(self) -> None:
        self.cpu_free = self.pool.cpu_milli
        self.memory_free = self.pool.memory_mib

    def has_room(self, cpu_milli: int, memory_mib: int) -> bool:
        """Whether a pod of this size fits."""
        return self.pods_free > 0 and self.cpu_free >= cpu_milli and self.memory_free >= memory_mib

    def take(self, cpu_milli: int, memory_mib: int) -> None:
        """Books a pod of this size."""
        self.pods_free -= 1
        self.cpu_free -= cpu_milli
        self.memory_free -= memory_mib


def make_places(num_nodes: int, rng: random.Random) -> list[Place]:
    """The nodes, in name order, still empty. Nodes in trouble are spread over the cluster by index."""
    places = []
    bounds = _pool_bounds(num_nodes)
    for index in range(num_nodes):
        pool = next(pool for pool, bound in bounds if index < bound)
        draw = rng.random()
        weight = 0.1 if draw < 0.15 else 3.0 if draw > 0.85 else 1.0
        name = f"ip-10-{index // 65536}-{index // 256 % 256}-{index % 256}.eu-west-1.compute.internal"
        places.append(Place(index, name, pool, ZONES[index % 3], weight, _trouble(index)))
    return places


def _pool_bounds(num_nodes: int) -> list[tuple[Pool, int]]:
    bounds, share = [], 0.0
    for pool in POOLS:
        share += pool.share_ratio
        bounds.append((pool, round(num_nodes * share)))
    return bounds


def _trouble(index: int) -> str:
    match index % 200:
        case 7:
            return "cordoned"
        case 61:
            return "not-ready"
        case 12 | 113:
            return "tainted"
        case 31 | 131:
            return "relabelled"
        case _:
            return ""


def node_object(place: Place) -> JsonObject:
    """The node as the API server lists it."""
    pool = place.pool
    ready = "False" if place.trouble == "not-ready" else "True"
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": place.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": pool.instance_type,
        # A relabelled node keeps the pods that came for its former label.
        "node.example.com/pool": "retired" if place.trouble == "relabelled" else pool.name,
        "topology.kubernetes.io/region": "eu-west-1",
        "topology.kubernetes.io/zone": place.zone,
    }
    spec: JsonObject = {"podCIDR": f"10.{place.index // 256}.{place.index % 256}.0/24", "taints": _taints(place)}
    if place.trouble == "cordoned":
        spec["unschedulable"] = True
    return {
        "metadata": {
            "name": place.name,
            "uid": f"00000000-0000-4000-8000-{place.index:012x}",
            "resourceVersion": str(70_000_000 + place.index),
            "creationTimestamp": "2025-11-03T08:00:00Z",
            "labels": labels,
            "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
        },
        "spec": spec,
        "status": {
            "capacity": _resources(pool, cpu_reserve=110, memory_reserve=2_800),
            "allocatable": _resources(pool, cpu_reserve=0, memory_reserve=0),
            "conditions": [_condition(kind, "False") for kind in ("MemoryPressure", "DiskPressure", "PIDPressure")]
            + [_condition("Ready", ready)],
            "nodeInfo": {"kubeletVersion": "v1.34.2", "operatingSystem": "linux", "architecture": "amd64"},
            "images": [
                {"names": [f"registry.example.com/shop/service-{n}:v1"], "sizeBytes": 180_000_000 + n} for n in range(8)
            ],
        },
    }


def _taints(place: Place) -> list[dict[str, str]]:
    taints = [GPU_TAINT] if place.pool.num_gpus else []
    match place.trouble:
        case "cordoned":
            taints = [*taints, _CORDON_TAINT]
        case "not-ready":
            taints = [*taints, _NOT_READY_TAINT]
        case "tainted":
            taints = [*taints, DEDICATED_TAINT]
    return taints


def _resources(pool: Pool, *, cpu_reserve: int, memory_reserve: int) -> dict[str, str]:
    resources = {
        "cpu": f"{pool.cpu_milli + cpu_reserve}m",
        "memory": f"{(pool.memory_mib + memory_reserve) * 1024}Ki",
        "ephemeral-storage": "94489280512",
        "pods": "110",
    }
    if pool.num_gpus:
        resources["nvidia.com/gpu"] = str(pool.num_gpus)
    return resources


def _condition(kind: str, status: str) -> dict[str, str]:
    return {
        "type": kind,
        "status": status,
        "reason": f"Kubelet{'Has' if status == 'True' else 'Not'}{kind}",
        "lastHeartbeatTime": "2026-01-15T11:58:40Z",
        "lastTransitionTime": "2025-11-03T08:01:00Z",
    }

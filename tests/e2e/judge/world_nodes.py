"""The nodes of a generated world."""

from __future__ import annotations

from collections.abc import Set
from random import Random

from tests.e2e.judge.features import Feature
from tests.e2e.judge.vocabulary import (
    CORDON_TAINT,
    CORES,
    DISKS,
    EXTENDED,
    HOSTNAME,
    HUGE_PAGES,
    IMAGES,
    POOL,
    POOL_TAINTS,
    POOLS,
    RACK,
    RACKS,
    ZONE,
    ZONES,
    chance,
    some,
)
from tests.e2e.kube_api import Object

_SIZES = (("2", "4Gi"), ("4", "8Gi"), ("3920m", "7600Mi"), ("8", "16Gi"))
_READY = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "generated"}


def generate_nodes(rng: Random, num_nodes: int, features: Set[Feature]) -> list[Object]:
    """Nodes `n00`, `n01`, ... over two to five zones; a few lack a label that others have."""
    zones = ZONES[: rng.randint(2, len(ZONES))]
    return [_node(rng, f"n{index:02d}", zones, features) for index in range(num_nodes)]


def _node(rng: Random, name: str, zones: tuple[str, ...], features: Set[Feature]) -> Object:
    pool = rng.choice(POOLS)
    spec: Object = {}
    if Feature.TAINTS in features:
        spec = _spec(rng, pool)
    room = _room(rng, features)
    return {
        "metadata": {"name": name, "labels": _labels(rng, name, pool, zones)},
        "spec": spec,
        "status": {"capacity": room, "allocatable": room, "conditions": [_READY], "images": _images(rng)},
    }


def _labels(rng: Random, name: str, pool: str, zones: tuple[str, ...]) -> dict[str, str]:
    labels = {POOL: pool, "disk": rng.choice(DISKS)}
    for key, value, share in (
        (HOSTNAME, name, 0.97),
        (ZONE, rng.choice(zones), 0.93),
        (RACK, rng.choice(RACKS), 0.85),
        ("cores", rng.choice(CORES), 0.8),
        ("gpu", rng.choice(("", "true")), 0.3),
    ):
        if chance(rng, share):
            labels[key] = value
    return dict(sorted(labels.items()))


def _spec(rng: Random, pool: str) -> Object:
    taints = [*POOL_TAINTS[pool]]
    cordoned = chance(rng, 0.08)
    if cordoned:
        taints.append(CORDON_TAINT)
    return {**({"unschedulable": True} if cordoned else {}), **({"taints": taints} if taints else {})}


def _room(rng: Random, features: Set[Feature]) -> dict[str, str]:
    cpu, memory = rng.choice(_SIZES)
    room = {"cpu": cpu, "memory": memory, "pods": str(rng.choice((6, 8, 12, 110)))}
    if Feature.EXTENDED in features:
        room["ephemeral-storage"] = rng.choice(("5Gi", "20Gi"))
        for resource in EXTENDED:
            if chance(rng, 0.3):
                room[resource] = str(rng.randint(0, 4))
        if chance(rng, 0.3):
            room[HUGE_PAGES] = rng.choice(("0", "64Mi", "256Mi"))
    return room


def _images(rng: Random) -> list[Object]:
    if chance(rng, 0.4):
        return []
    return [{"names": [name], "sizeBytes": IMAGES[name]} for name in some(rng, tuple(IMAGES), 2)]

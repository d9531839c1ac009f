"""The words that generated worlds and candidates share, so that selectors meet labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

from tests.e2e.kube_api import Object

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
RACK = "rack"
POOL = "pool"
TOPOLOGIES = (HOSTNAME, ZONE, RACK)

ZONES = ("zone-a", "zone-b", "zone-c", "zone-d", "zone-e")
RACKS = ("r1", "r2", "r3", "r4")
DISKS = ("hdd", "ssd", "nvme")
CORES = ("4", "8", "16", "many")
POOLS = ("general", "batch", "secure", "worn")

POOL_TAINTS: Mapping[str, Sequence[Object]] = {
    "general": (),
    "batch": ({"key": "dedicated", "value": "batch", "effect": "NoSchedule"},),
    "secure": (
        {"key": "dedicated", "value": "secure", "effect": "NoSchedule"},
        {"key": "audited", "effect": "NoExecute"},
    ),
    "worn": ({"key": "worn", "value": "yes", "effect": "PreferNoSchedule"},),
}
CORDON_TAINT: Object = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}

APPS = ("api", "db", "cache", "job")
TIERS = ("front", "back")
VERSIONS = ("1", "2")
NAMESPACES: Mapping[str, Mapping[str, str]] = {
    "shop": {"team": "red", "env": "prod"},
    "data": {"team": "blue", "env": "prod"},
    "lab": {"team": "red"},
    "bare": {},
}

EXTENDED = ("example.com/dev", "nvidia.com/gpu")
HUGE_PAGES = "hugepages-2Mi"
HOST_PORTS = (8080, 8081, 9090, 5353)
HOST_ADDRESSES = ("", "", "0.0.0.0", "10.0.0.1", "10.0.0.2")
IMAGES: Mapping[str, int] = {
    "registry.test/small:1": 40 << 20,
    "registry.test/large:1": 700 << 20,
    "registry.test/huge:2": 2300 << 20,
}
RUNTIME_CLASS = "sandbox"
OVERHEAD = {"cpu": "250m", "memory": "128Mi"}

Item = TypeVar("Item")


def some(rng: Random, items: Sequence[Item], most: int) -> list[Item]:
    """One to `most` different items, in their own order."""
    chosen = set(rng.sample(range(len(items)), rng.randint(1, min(most, len(items)))))
    return [item for index, item in enumerate(items) if index in chosen]


def chance(rng: Random, probability: float) -> bool:
    """True with the given probability."""
    return rng.random() < probability


def workload_labels(rng: Random) -> dict[str, str]:
    """Labels of a pod: always an app, mostly a tier and a version."""
    labels = {"app": rng.choice(APPS)}
    if chance(rng, 0.8):
        labels["tier"] = rng.choice(TIERS)
    if chance(rng, 0.7):
        labels["ver"] = rng.choice(VERSIONS)
    return labels


def label_selector(rng: Random) -> Object:
    """A selector over the labels of pods, with any of the four operators."""
    shape = rng.randrange(5)
    if shape <= 1:
        return {"matchLabels": {"app": rng.choice(APPS)}}
    if shape == 2:
        return {"matchExpressions": [{"key": "app", "operator": "In", "values": some(rng, APPS, 2)}]}
    if shape == 3:
        return {
            "matchLabels": {"app": rng.choice(APPS)},
            "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": [rng.choice(TIERS)]}],
        }
    operator = rng.choice(("Exists", "DoesNotExist"))
    return {
        "matchLabels": {"tier": rng.choice(TIERS)},
        "matchExpressions": [{"key": "ver", "operator": operator}],
    }


def namespace_scope(rng: Random) -> Object:
    """The namespace fields of an affinity term; empty half of the time, which means the pod's own."""
    match rng.randrange(8):
        case 0:
            return {"namespaces": some(rng, tuple(NAMESPACES), 2)}
        case 1:
            return {"namespaceSelector": {}}
        case 2:
            return {"namespaceSelector": {"matchLabels": {"team": rng.choice(("red", "blue"))}}}
        case 3:
            selector = {"matchExpressions": [{"key": "env", "operator": rng.choice(("Exists", "DoesNotExist"))}]}
            return {"namespaces": ["bare"], "namespaceSelector": selector}
        case _:
            return {}

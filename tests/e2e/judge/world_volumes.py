"""Storage of a generated world: classes, volumes that pin a place, and claims of every kind."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.e2e.judge.features import Feature
from tests.e2e.judge.vocabulary import HOSTNAME, NAMESPACES, RACK, ZONE, chance, some
from tests.e2e.judge.world_pods import ClaimUse
from tests.e2e.kube_api import Object

IMMEDIATE = "immediate"
WAITING = "waiting"
PROVISIONED_NOWHERE = "kubernetes.io/no-provisioner"
_BOUND_CLAIMS = 24
_UNBOUND_CLAIMS = 3
_DELAYED_CLAIMS = 20
_LOCAL_VOLUMES = (2, 9)
_SIZES = ("1Gi", "2Gi", "5Gi")


@dataclass(slots=True)
class Storage:
    """Objects with kind, and which claims a bound pod is to hold."""

    objects: list[Object] = field(default_factory=list)
    claims_in_use: list[ClaimUse] = field(default_factory=list)


def generate_storage(rng: Random, seed: int, nodes: Sequence[Object], features: Set[Feature]) -> Storage:
    """Claims of volumes that are bound, claims that can never be, and claims that wait for a consumer.

    Names hold the seed: worlds follow each other on one cluster, and schedulers assume volumes by name.
    """
    storage = Storage()
    if features & {Feature.VOLUMES, Feature.DELAYED_VOLUMES}:
        storage.objects += [_class(IMMEDIATE, "Immediate"), _class(WAITING, "WaitForFirstConsumer")]
    if Feature.VOLUMES in features:
        _add_bound(storage, rng, seed, nodes)
        for number in range(_UNBOUND_CLAIMS):
            storage.objects.append(_claim(rng, f"unbound-{seed}-{number}", IMMEDIATE, "1Gi"))
    if Feature.DELAYED_VOLUMES in features:
        _add_delayed(storage, rng, seed, nodes)
    return storage


def _class(name: str, mode: str) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": PROVISIONED_NOWHERE,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": mode,
    }


def _add_bound(storage: Storage, rng: Random, seed: int, nodes: Sequence[Object]) -> None:
    names = [node["metadata"]["name"] for node in nodes]
    for number in range(_BOUND_CLAIMS):
        name = f"bound-{seed}-{number}"
        modes = ["ReadWriteOncePod"] if chance(rng, 0.3) else ["ReadWriteOnce"]
        claim = _claim(rng, name, IMMEDIATE, "1Gi", modes)
        volume = _volume(name, IMMEDIATE, "1Gi", modes, _place(rng, nodes))
        if chance(rng, 0.15):
            volume["metadata"]["labels"] = {ZONE: "__".join(some(rng, _zones(nodes), 2))}
        _bind(claim, volume)
        storage.objects += [volume, claim]
        if chance(rng, 0.3):
            storage.claims_in_use.append(ClaimUse(claim["metadata"]["namespace"], name, names))


def _add_delayed(storage: Storage, rng: Random, seed: int, nodes: Sequence[Object]) -> None:
    for number in range(_DELAYED_CLAIMS):
        claim = _claim(rng, f"delayed-{seed}-{number}", WAITING, rng.choice(_SIZES))
        if chance(rng, 0.15):
            claim["spec"]["selector"] = {"matchLabels": {"grade": "gold"}}
        storage.objects.append(claim)
    for number in range(rng.randint(*_LOCAL_VOLUMES)):
        volume = _volume(f"local-{seed}-{number}", WAITING, rng.choice(_SIZES), ["ReadWriteOnce"], _place(rng, nodes))
        if chance(rng, 0.3):
            volume["metadata"]["labels"] = {"grade": rng.choice(("gold", "silver"))}
        storage.objects.append(volume)


def _place(rng: Random, nodes: Sequence[Object]) -> Object:
    """The node affinity of a volume: one node, one or two zones, a rack, or one of two places."""
    labels = rng.choice(nodes)["metadata"]["labels"]
    host = {"key": HOSTNAME, "operator": "In", "values": [labels.get(HOSTNAME, "none")]}
    zone = {"key": ZONE, "operator": "In", "values": some(rng, _zones(nodes), 2)}
    rack = {"key": RACK, "operator": "In", "values": [labels.get(RACK, "r9")]}
    terms = rng.choice(([[host]], [[zone]], [[zone]], [[rack]], [[zone, rack]], [[host], [zone]]))
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": each} for each in terms]}}


def _zones(nodes: Sequence[Object]) -> list[str]:
    return sorted({node["metadata"]["labels"][ZONE] for node in nodes if ZONE in node["metadata"]["labels"]})


def _claim(rng: Random, name: str, storage_class: str, size: str, modes: Sequence[str] = ("ReadWriteOnce",)) -> Object:
    namespace = rng.choice(tuple(NAMESPACES))
    spec: dict[str, Any] = {
        "accessModes": list(modes),
        "resources": {"requests": {"storage": size}},
        "storageClassName": storage_class,
        "volumeMode": "Filesystem",
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace, "uid": f"claim-{name}"},
        "spec": spec,
        "status": {"phase": "Pending"},
    }


def _volume(name: str, storage_class: str, size: str, modes: Sequence[str], place: Object) -> Object:
    spec: dict[str, Any] = {
        "accessModes": list(modes),
        "capacity": {"storage": size},
        "local": {"path": f"/volumes/{name}"},
        "nodeAffinity": place,
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": storage_class,
        "volumeMode": "Filesystem",
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pv-{name}", "uid": f"volume-{name}"},
        "spec": spec,
        "status": {"phase": "Available"},
    }


def _bind(claim: Object, volume: Object) -> None:
    meta = claim["metadata"]
    marks = {f"pv.kubernetes.io/{mark}": "yes" for mark in ("bind-completed", "bound-by-controller")}
    meta["annotations"] = marks
    claim["spec"]["volumeName"] = volume["metadata"]["name"]
    claim["status"] = {
        "phase": "Bound",
        "accessModes": claim["spec"]["accessModes"],
        "capacity": volume["spec"]["capacity"],
    }
    volume["spec"]["claimRef"] = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": meta["namespace"],
        "name": meta["name"],
        "uid": meta["uid"],
    }
    volume["status"] = {"phase": "Bound"}

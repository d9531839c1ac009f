"""Claims, volumes and classes with good defaults: one argument for each fact that matters to a test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.labels import LabelSelector, Requirement
from descheduler.model.volume_sources import (
    READ_WRITE_ONCE,
    WAIT_FOR_FIRST_CONSUMER,
    ClaimReference,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from tests.builders import make_pod
from tests.placement.clusters import HOSTNAME

Storage = dict[str, Any]

DRIVER = "csi.example.com"
RWO = frozenset({READ_WRITE_ONCE})


def make_claim(
    name: str, *, volume: str = "", size: int = 10, modes: frozenset[str] = RWO, **facts: Any
) -> PersistentVolumeClaim:
    """A claim of class `slow` in the default namespace, bound to `volume` unless that is empty."""
    given: dict[str, Any] = {"storage_class": "slow", "uid": f"uid-{name}", "is_bound": bool(volume)} | facts
    return PersistentVolumeClaim("default", name, volume_name=volume, request_bytes=size, access_modes=modes, **given)


def make_volume(name: str, *, size: int = 10, claim: str = "", **facts: Any) -> PersistentVolume:
    """A volume of class `slow` that reaches every node and is available, or bound to `claim`."""
    given: dict[str, Any] = {"storage_class": "slow", "access_modes": RWO} | facts
    if claim:
        given = {"claim_ref": ClaimReference("default", claim, f"uid-{claim}"), "phase": "Bound"} | given
    return PersistentVolume(name, capacity_bytes=size, **({"phase": "Available"} | given))


def make_class(name: str = "slow", *, provisioner: str = "", **facts: Any) -> StorageClass:
    """A class that waits for the first consumer and cannot make volumes, unless it names a provisioner."""
    given: dict[str, Any] = {"binding_mode": WAIT_FOR_FIRST_CONSUMER} | facts
    return StorageClass(name, provisioner or "kubernetes.io/no-provisioner", **given)


def make_capacity(
    name: str, *, size: int | None, node: str, storage_class: str = "fast", **facts: Any
) -> CSIStorageCapacity:
    """What a driver publishes for one node."""
    selector = LabelSelector((is_in(HOSTNAME, node),))
    return CSIStorageCapacity("kube-system", name, storage_class, selector, size, **facts)


def make_attachment(volume: str, node: str, *, attacher: str = DRIVER) -> VolumeAttachment:
    """A volume that is attached to a node."""
    return VolumeAttachment(f"{volume}-{node}", attacher, node, volume)


def make_storage(
    *,
    claims: Iterable[PersistentVolumeClaim] = (),
    volumes: Iterable[PersistentVolume] = (),
    classes: Iterable[StorageClass] = (make_class(),),
    limits: Mapping[str, int] | None = None,
    **others: Any,
) -> Storage:
    """Arguments of `make_cluster` for storage; `limits` are volumes of the one driver that nodes attach."""
    csi_nodes = {name: CSINode(name, {DRIVER: limit}) for name, limit in (limits or {}).items()}
    return {
        "claims": {(claim.namespace, claim.name): claim for claim in claims},
        "volumes": {volume.name: volume for volume in volumes},
        "storage_classes": {each.name: each for each in classes},
        "csi_nodes": csi_nodes,
    } | others


def new_pod(*claims: str, **facts: Any) -> Pod:
    """A pod that is to be placed and names `claims`."""
    return make_pod("new", node="", claims=claims, **facts)


def ephemeral(name: str = "scratch", *, storage_class: str | None = "slow", storage: str = "10") -> dict[str, Any]:
    """A generic ephemeral volume of a pod object."""
    spec = {
        "accessModes": [READ_WRITE_ONCE],
        "storageClassName": storage_class,
        "resources": {"requests": {"storage": storage}},
    }
    return {"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}


def is_in(key: str, *values: str) -> Requirement:
    """A requirement on a node label."""
    return Requirement(key, "In", frozenset(values))


def on_nodes(*names: str) -> tuple[NodeSelectorTerm, ...]:
    """The node affinity of a volume that these nodes reach."""
    return (NodeSelectorTerm((is_in(HOSTNAME, *names),)),)


def any_of(*alternatives: Sequence[Requirement]) -> tuple[NodeSelectorTerm, ...]:
    """A node affinity of several terms."""
    return tuple(NodeSelectorTerm(tuple(requirements)) for requirements in alternatives)

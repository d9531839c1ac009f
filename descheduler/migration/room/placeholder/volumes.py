"""The nodes that the volumes of a pod allow its replacement.

A placeholder mounts nothing: a claim that only one node may use would keep the pod and its replacement apart. It is
placed where the volumes behind the claims can be reached instead, as the plugins VolumeBinding and VolumeZone of
kube-scheduler 1.36 have it. How many volumes a node can attach is not held.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from descheduler.kube.objects import ObjectCalls
from descheduler.migration.room.provider import CannotHold

__all__ = ["reachable_terms"]

_ZONE_LABELS = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
)
_SEVERAL = "__"
"""Between the zones of a volume that is in several."""
_ONE_POD = "ReadWriteOncePod"
_Object = Mapping[str, Any]
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode


def reachable_terms(objects: ObjectCalls, pod: _Object) -> Iterator[list[dict[str, Any]]]:
    """Node selector terms, of which each volume of `pod` (JSON) wants one to match; nothing for those that want none.

    Raises CannotHold, which says why, where a node that the terms match may not be good enough; ExchangeError.
    """
    namespace = pod["metadata"]["namespace"]
    for volume in pod["spec"].get("volumes") or ():
        if "ephemeral" in volume:
            raise CannotHold(
                f"volume {volume['name']} is an ephemeral volume: the claim of the replacement does not exist yet, "
                "so a placeholder cannot be placed where it can be used"
            )
        if "persistentVolumeClaim" in volume:
            yield from _of_claim(objects, namespace, volume["persistentVolumeClaim"]["claimName"])


def _of_claim(objects: ObjectCalls, namespace: str, name: str) -> Iterator[list[dict[str, Any]]]:
    claim = _find(objects, f"/api/v1/namespaces/{namespace}/persistentvolumeclaims", name)
    if claim is None or "deletionTimestamp" in claim["metadata"]:
        raise CannotHold(f"PersistentVolumeClaim {namespace}/{name} is being deleted or does not exist")
    spec = claim.get("spec") or {}
    if _ONE_POD in (spec.get("accessModes") or ()):
        raise CannotHold(
            f"PersistentVolumeClaim {namespace}/{name} has access mode {_ONE_POD}: the replacement cannot be scheduled "
            "before the pod is gone, and its placeholder does not wait that long"
        )
    volume_name = spec.get("volumeName") or ""
    if not volume_name:
        raise CannotHold(f"PersistentVolumeClaim {namespace}/{name} is not bound to a PersistentVolume")
    volume = _find(objects, "/api/v1/persistentvolumes", volume_name)
    if volume is None:
        raise CannotHold(f"PersistentVolume {volume_name} of claim {namespace}/{name} does not exist")
    yield from _of_volume(volume_name, volume)


def _of_volume(name: str, volume: _Object) -> Iterator[list[dict[str, Any]]]:
    spec = volume.get("spec") or {}
    if "local" in spec or "hostPath" in spec:
        raise CannotHold(f"PersistentVolume {name} is on the node of the pod and cannot be used on another node")
    required = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms")
    if required:
        yield [dict(term) for term in required]
    labels = volume["metadata"].get("labels") or {}
    zones = [
        {"key": key, "operator": "In", "values": labels[key].split(_SEVERAL)} for key in _ZONE_LABELS if labels.get(key)
    ]
    if zones:
        yield [{"matchExpressions": zones}]


def _find(objects: ObjectCalls, list_path: str, name: str) -> dict[str, Any] | None:
    """The object of this name, by a list of one: that is what the right to read the cluster allows."""
    found = objects.list_readable(list_path, _decode, field_selector=f"metadata.name={name}")
    return found[0] if found else None


def _decode(block: bytes) -> dict[str, Any]:
    found = _decode_object(block)
    if not isinstance(found.get("metadata"), dict):
        raise ValueError("metadata is missing")
    return found

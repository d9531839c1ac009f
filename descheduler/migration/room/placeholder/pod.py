"""The pod that holds the room of a replacement: it asks for as much, may go where that may go, and does nothing.

It has none of the labels of the pod: a Service would send it requests, a budget would count it, a ReplicaSet would
adopt it. It mounts nothing either: a claim that only one node may use would keep the pod and its replacement apart. It
is placed where the volumes behind the claims can be reached instead, as the plugins VolumeBinding and VolumeZone of
kube-scheduler 1.36 have it. How many volumes a node can attach is not held.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from descheduler.eviction.migration_controller.room_provider import PLACEHOLDER_CLASS
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.room.labels import labels_of, placeholder_name_of
from descheduler.migration.room.placement_away import keep_away, keep_on
from descheduler.migration.room.provider import CannotHold
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.quantity import format_quantity
from descheduler.model.requests import ResourceList

CONTAINER = "placeholder"
"""The name of its only container."""
IMAGE = "registry.k8s.io/pause:3.10"
"""It does nothing for ever."""
_PLACED_BY = ("schedulerName", "nodeSelector", "affinity", "tolerations", "topologySpreadConstraints")
"""The fields of a pod's spec that placement goes by, but for what it asks for."""
_LABELS = {"app.kubernetes.io/managed-by": "descheduler", "sidecar.istio.io/inject": "false"}
_ANNOTATIONS = {"linkerd.io/inject": "disabled"}
"""A sidecar would ask for more than the replacement does, and have the pod look like one that does something."""


def placeholder_of(job: MigrationJob, pod: Mapping[str, Any], requests: ResourceList, owner: str) -> dict[str, Any]:
    """The placeholder for `job` of `owner`; `pod` is the JSON of the pod that leaves, `requests` its own, in nano.

    It can be scheduled onto the node alone on which the job wants room, if it names one. Raises CannotHold for what no
    node can be called.
    """
    spec = {field: pod["spec"][field] for field in _PLACED_BY if pod["spec"].get(field)}
    keep_away(pod["spec"].get("nodeName", ""), spec)
    keep_on(job.held_on, spec)
    amounts = {name: format_quantity(amount) for name, amount in sorted(requests.items()) if name != "pods"}
    container = {
        "name": CONTAINER,
        "image": IMAGE,
        "resources": {"requests": amounts, "limits": amounts},
        "ports": _host_ports(pod["spec"]),
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": placeholder_name_of(job.uid),
            "namespace": job.pod_namespace,
            "labels": {**labels_of(job.uid, owner), **_LABELS},
            "annotations": _ANNOTATIONS,
        },
        "spec": {
            **spec,
            "priorityClassName": PLACEHOLDER_CLASS,
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 65535,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [container],
        },
    }


def _host_ports(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    fields = ("containerPort", "hostPort", "hostIP", "protocol")
    containers = spec.get("containers") or ()
    ports = (port for container in containers for port in container.get("ports") or () if port.get("hostPort"))
    return [{field: port[field] for field in fields if port.get(field)} for port in ports]


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

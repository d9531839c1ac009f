"""Words in which rows of the kinds table say what a dump keeps of an object, and what it keeps of pods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


class Leaf(Enum):
    """What is kept of a value that is no object with fields of its own."""

    SCALAR = "a string, number or truth value, or a list of them"
    HANDLE = "the same without the user and password of an address"
    MAP = "an object with any keys and such values"
    ANNOTATIONS = "a map with the known keys alone"


Fields: TypeAlias = "Mapping[str, Shape]"
Shape: TypeAlias = "Fields | ByName | Leaf"
"""An object with these fields, or a list of such objects."""


@dataclass(frozen=True)
class ByName:
    """An object with any keys, each of which has an object with these fields."""

    fields: Fields


def scalars(*names: str) -> Fields:
    """An object with these fields, each a scalar."""
    return dict.fromkeys(names, Leaf.SCALAR)


METADATA: Fields = {
    **scalars("name", "namespace", "uid", "generation", "creationTimestamp", "deletionTimestamp"),
    "labels": Leaf.MAP,
    "annotations": Leaf.ANNOTATIONS,
    "ownerReferences": scalars("apiVersion", "kind", "name", "uid", "controller"),
}


def an_object(**fields: Shape) -> Fields:
    """An object of the API with these fields beside its metadata."""
    return {**scalars("kind", "apiVersion"), "metadata": METADATA, **fields}


IDENTITY = an_object()
"""Which object it is, and nothing of what it says."""


_EXPRESSIONS = scalars("key", "operator", "values")
SELECTOR: Fields = {"matchLabels": Leaf.MAP, "matchExpressions": _EXPRESSIONS}
NODE_SELECTOR: Fields = {"nodeSelectorTerms": {"matchExpressions": _EXPRESSIONS, "matchFields": _EXPRESSIONS}}
TOLERATIONS = scalars("key", "operator", "value", "effect", "tolerationSeconds")

_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
_POD_TERM: Fields = {
    **scalars("topologyKey", "namespaces", "matchLabelKeys", "mismatchLabelKeys"),
    "labelSelector": SELECTOR,
    "namespaceSelector": SELECTOR,
}
_POD_AFFINITY: Fields = {
    _REQUIRED: _POD_TERM,
    _PREFERRED: {"weight": Leaf.SCALAR, "podAffinityTerm": _POD_TERM},
}
_AFFINITY: Fields = {
    "nodeAffinity": {
        _REQUIRED: NODE_SELECTOR,
        _PREFERRED: {"weight": Leaf.SCALAR, "preference": NODE_SELECTOR["nodeSelectorTerms"]},
    },
    "podAffinity": _POD_AFFINITY,
    "podAntiAffinity": _POD_AFFINITY,
}
_SPREAD: Fields = {
    **scalars("maxSkew", "topologyKey", "whenUnsatisfiable", "matchLabelKeys", "minDomains"),
    **scalars("nodeAffinityPolicy", "nodeTaintsPolicy"),
    "labelSelector": SELECTOR,
}

_RESOURCES: Fields = {"requests": Leaf.MAP, "limits": Leaf.MAP}
_CONTAINER: Fields = {
    **scalars("name", "image", "restartPolicy"),
    "restartPolicyRules": scalars("action"),
    "ports": scalars("containerPort", "hostPort", "hostIP", "protocol"),
    "resources": _RESOURCES,
}

CLAIM_SPEC: Fields = {
    **scalars("storageClassName", "volumeName", "accessModes", "volumeMode", "volumeAttributesClassName"),
    "resources": {"requests": Leaf.MAP},
    "selector": SELECTOR,
}
CLAIM_TEMPLATE: Fields = {"metadata": {"name": Leaf.SCALAR, "labels": Leaf.MAP}, "spec": CLAIM_SPEC}
VOLUME: Fields = {
    "name": Leaf.SCALAR,
    "hostPath": {},
    "emptyDir": {},
    "persistentVolumeClaim": scalars("claimName"),
    "ephemeral": {"volumeClaimTemplate": CLAIM_TEMPLATE},
    "image": scalars("reference"),
    "gcePersistentDisk": scalars("pdName", "readOnly"),
    "awsElasticBlockStore": {"volumeID": Leaf.HANDLE, "readOnly": Leaf.SCALAR},
    "azureDisk": {"diskURI": Leaf.HANDLE, "kind": Leaf.SCALAR},
    "cinder": {"volumeID": Leaf.HANDLE},
    "portworxVolume": {"volumeID": Leaf.HANDLE},
    "iscsi": {"iqn": Leaf.HANDLE, "readOnly": Leaf.SCALAR},
    "rbd": {"monitors": Leaf.HANDLE, **scalars("pool", "image", "readOnly")},
}
"""Of a list of volumes, those that are left with a name alone are dropped."""

POD_SPEC: Fields = {
    **scalars("nodeName", "hostNetwork", "hostUsers", "schedulerName", "priority", "preemptionPolicy"),
    **scalars("priorityClassName", "runtimeClassName", "terminationGracePeriodSeconds"),
    "containers": _CONTAINER,
    "initContainers": _CONTAINER,
    "volumes": VOLUME,
    "nodeSelector": Leaf.MAP,
    "affinity": _AFFINITY,
    "tolerations": TOLERATIONS,
    "overhead": Leaf.MAP,
    "topologySpreadConstraints": _SPREAD,
    "schedulingGates": scalars("name"),
    "resourceClaims": scalars("name", "resourceClaimName", "resourceClaimTemplateName"),
    "resources": _RESOURCES,
    "schedulingGroup": scalars("podGroupName"),
    "workloadRef": scalars("name", "podGroup", "podGroupReplicaKey"),
}
POD_TEMPLATE: Fields = {"metadata": {"labels": Leaf.MAP, "annotations": Leaf.ANNOTATIONS}, "spec": POD_SPEC}

_CONTAINER_STATUS: Fields = {
    **scalars("name", "restartCount"),
    "state": {"waiting": scalars("reason"), "terminated": scalars("reason", "exitCode")},
    "allocatedResources": Leaf.MAP,
    "resources": _RESOURCES,
}
POD_STATUS: Fields = {
    **scalars("phase", "reason", "nominatedNodeName", "startTime", "qosClass"),
    "conditions": scalars("type", "status", "reason", "lastTransitionTime"),
    "resourceClaimStatuses": scalars("name", "resourceClaimName"),
    "extendedResourceClaimStatus": scalars("resourceClaimName"),
    "containerStatuses": _CONTAINER_STATUS,
    "initContainerStatuses": _CONTAINER_STATUS,
    "ephemeralContainerStatuses": _CONTAINER_STATUS,
    "allocatedResources": Leaf.MAP,
    "resources": _RESOURCES,
}

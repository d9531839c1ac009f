"""Kubernetes objects as dicts, one function a kind, with what the drawn clusters need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Object = dict[str, Any]

PATHS: Mapping[str, str] = {
    "/api/v1/nodes": "Node",
    "/api/v1/pods": "Pod",
    "/api/v1/namespaces": "Namespace",
    "/api/v1/persistentvolumeclaims": "PersistentVolumeClaim",
    "/api/v1/persistentvolumes": "PersistentVolume",
    "/api/v1/replicationcontrollers": "ReplicationController",
    "/api/v1/services": "Service",
    "/api/v1/limitranges": "LimitRange",
    "/api/v1/resourcequotas": "ResourceQuota",
    "/apis/apps/v1/replicasets": "ReplicaSet",
    "/apis/apps/v1/deployments": "Deployment",
    "/apis/apps/v1/statefulsets": "StatefulSet",
    "/apis/batch/v1/jobs": "Job",
    "/apis/policy/v1/poddisruptionbudgets": "PodDisruptionBudget",
    "/apis/scheduling.k8s.io/v1/priorityclasses": "PriorityClass",
    "/apis/node.k8s.io/v1/runtimeclasses": "RuntimeClass",
    "/apis/storage.k8s.io/v1/storageclasses": "StorageClass",
    "/apis/storage.k8s.io/v1/csinodes": "CSINode",
    "/apis/storage.k8s.io/v1/csidrivers": "CSIDriver",
    "/apis/storage.k8s.io/v1/csistoragecapacities": "CSIStorageCapacity",
    "/apis/storage.k8s.io/v1/volumeattachments": "VolumeAttachment",
}
"""Path of each list that every cluster serves → the kind in it."""

NOW = "now"
"""As the time of creation of an object: that of its cluster."""
_BORN = "2024-03-01T08:00:00Z"


def node(name: str, *, cpu_milli: int = 4000, is_tainted: bool = False) -> Object:
    """A ready node; a tainted one has a taint that no pod tolerates."""
    resources = {"cpu": f"{cpu_milli}m", "memory": "16Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"node-{name}", "labels": {"kubernetes.io/hostname": name}},
        "spec": {"taints": [{"key": "leave", "value": "now", "effect": "NoSchedule"}]} if is_tainted else {},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(
    name: str,
    *,
    namespace: str,
    node: str,
    owner: str = "",
    app: str = "",
    cpu_milli: int = 100,
    restarts: int = 0,
    generation: int = 0,
) -> Object:
    """A running pod; `owner` is `Kind/name`, "" makes it a bare one. Successors have a higher `generation`."""
    metadata: Object = {
        "name": name,
        "namespace": namespace,
        "uid": f"{namespace}.{name}.{generation}",
        "labels": {"app": app},
        "creationTimestamp": _BORN,
    }
    if owner:
        kind, _, owner_name = owner.partition("/")
        reference = {"apiVersion": "apps/v1", "kind": kind, "name": owner_name, "uid": f"{namespace}.{owner}"}
        metadata["ownerReferences"] = [reference | {"controller": True}]
    requests = {"cpu": f"{cpu_milli}m", "memory": "64Mi"}
    state = {"name": "main", "ready": True, "restartCount": restarts, "state": {"running": {}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "nodeName": node,
            "schedulerName": "default-scheduler",
            "containers": [{"name": "main", "image": "app:1", "resources": {"requests": requests}}],
        },
        "status": {
            "phase": "Running",
            "startTime": _BORN,
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [state],
        },
    }


def successor(former: Object, now: str) -> Object:
    """The pod that the owner creates at `now`: the same name for a StatefulSet, pending, with a uid of its own."""
    metadata = former["metadata"]
    stem, _, generation = metadata["uid"].rpartition(".")
    number = int(generation) + 1
    keeps_name = metadata["ownerReferences"][0]["kind"] == "StatefulSet"
    name = metadata["name"] if keeps_name else f"{metadata['name'].split('.')[0]}.{number}"
    created = {key: metadata[key] for key in ("namespace", "labels", "ownerReferences")}
    spec = {key: part for key, part in former["spec"].items() if key != "nodeName"}
    return former | {
        "metadata": created | {"name": name, "uid": f"{stem}.{number}", "creationTimestamp": now},
        "spec": spec,
        "status": {"phase": "Pending"},
    }


def namespace(name: str) -> Object:
    """A namespace."""
    metadata = {"name": name, "uid": f"namespace-{name}", "labels": {"kubernetes.io/metadata.name": name}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def replica_set(name: str, *, namespace: str, replicas: int, kind: str = "ReplicaSet") -> Object:
    """A ReplicaSet or a StatefulSet whose pods have the label app=name."""
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "main", "image": "app:1"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "uid": f"{namespace}.{kind}/{name}"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


def budget(app: str, *, namespace: str, allowed: int) -> Object:
    """A PodDisruptionBudget for the pods with label `app`, as its controller has just left it."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app, "namespace": namespace, "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": app}}, "maxUnavailable": allowed},
        "status": {"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": 9, "desiredHealthy": 1},
    }

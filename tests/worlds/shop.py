"""A small shop as a cluster dump: 16 nodes, Deployments and StatefulSets with their templates, the default scheduler.

`python -m tests.worlds.shop > config/samples/shop.jsonl.gz` writes the bundled sample. Nothing is drawn at random, and
everything that decides about placement is in the dump, so that every replacement is known.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import BinaryIO
from uuid import NAMESPACE_URL, uuid5

import msgspec

from descheduler.cluster.kind import AnyKind
from descheduler.cluster.kinds import KINDS
from tests.worlds.dumps import write_dump
from tests.worlds.shop_workloads import BARE_POD, WORKLOADS, Failure, Workload

JsonObject = dict[str, object]

SHOP_AT = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
"""The moment of the snapshot."""

_ZONE, _HOST, _POOL = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "example.com/pool"
_TAINTED, _RELABELLED, _NUM_NODES = 5, 9, 16
_IMAGE, _OLD = "example.com/node-image", (5, 6)
_DRIVER, _STORAGE_CLASS = "disk.csi.example.com", "zonal-disk"
_BOUND = "pv.kubernetes.io/bind-completed"
"""Without this annotation a scheduler takes a claim for unbound, whatever its status says."""
_CRITICAL = 2_000_000_000
_SETTLED = timedelta(days=30)


def write_shop(out: BinaryIO) -> None:
    """Writes the dump to `out`; always the same bytes."""
    kinds = [kind for kind in KINDS.values() if not kind.is_optional]
    write_dump([(kind, _pages(kind)) for kind in kinds], out, taken_at=SHOP_AT, source="a made-up shop")


def _pages(kind: AnyKind) -> Iterator[bytes]:
    items = list(_objects(kind.name))
    if items:
        yield msgspec.json.encode({"kind": f"{kind.name}List", "apiVersion": kind.api_version, "items": items})


def _objects(kind: str) -> Iterable[JsonObject]:
    match kind:
        case "Node":
            return map(_node, range(1, _NUM_NODES + 1))
        case "Pod":
            return (*(pod for workload in WORKLOADS for pod in _pods(workload)), _bare_pod())
        case "Namespace":
            return ({"metadata": {"name": name, "labels": {_NAME: name}}} for name in sorted(_NAMESPACES))
        case "PriorityClass":
            return ({"metadata": {"name": "system-cluster-critical"}, "value": _CRITICAL},)
        case "PodDisruptionBudget":
            return (_budget(workload) for workload in WORKLOADS if workload.budget is not None)
        case "ReplicaSet":
            return (_replica_set(workload) for workload in WORKLOADS if workload.kind == "Deployment")
        case "Deployment" | "StatefulSet":
            return (_workload(workload) for workload in WORKLOADS if workload.kind == kind)
        case "DaemonSet":
            return (_daemon_set(workload) for workload in WORKLOADS if workload.kind == kind)
        case "PersistentVolumeClaim" | "PersistentVolume":
            make = _claim if kind == "PersistentVolumeClaim" else _volume
            return (make(w, index) for w in WORKLOADS if w.claim_gib for index in range(len(w.nodes)))
        case "StorageClass":
            return ({"metadata": {"name": _STORAGE_CLASS}, "provisioner": _DRIVER, "volumeBindingMode": _WAIT},)
        case "CSIDriver":
            return ({"metadata": {"name": _DRIVER}, "spec": {"attachRequired": True}},)
        case "CSINode":
            return map(_csi_node, range(1, _NUM_NODES + 1))
        case _:
            return ()


_NAME, _WAIT = "kubernetes.io/metadata.name", "WaitForFirstConsumer"
_NAMESPACES = {"default", *(workload.namespace for workload in WORKLOADS)}


def _node_name(number: int) -> str:
    return f"worker-{number:02d}"


def _zone(number: int) -> str:
    return f"zone-{'abc'[(number - 1) % 3]}"


def _uid(*words: object) -> str:
    return str(uuid5(NAMESPACE_URL, "/".join(map(str, words))))


def _instant(before: timedelta) -> str:
    return (SHOP_AT - before).strftime("%Y-%m-%dT%H:%M:%SZ")


def _node(number: int) -> JsonObject:
    """A worker. One is tainted for maintenance, one was moved to another pool, and two have an old image."""
    resources = {"cpu": "8", "memory": "32Gi", "pods": "110", "ephemeral-storage": "90Gi"}
    pool = "retired" if number == _RELABELLED else "general"
    labels = {_HOST: _node_name(number), "kubernetes.io/os": "linux", _ZONE: _zone(number), _POOL: pool}
    if number in _OLD:
        labels[_IMAGE] = "old"
    taint = {"key": "maintenance", "value": "planned", "effect": "NoSchedule"}
    return {
        "metadata": {"name": _node_name(number), "uid": _uid("node", number), "labels": labels},
        "spec": {"taints": [taint]} if number == _TAINTED else {},
        "status": {
            "allocatable": resources,
            "capacity": resources,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
            "nodeInfo": {"kubeletVersion": "v1.36.1", "operatingSystem": "linux", "architecture": "amd64"},
        },
    }


def _csi_node(number: int) -> JsonObject:
    driver = {"name": _DRIVER, "nodeID": _node_name(number), "topologyKeys": [_ZONE], "allocatable": {"count": 24}}
    return {"metadata": {"name": _node_name(number)}, "spec": {"drivers": [driver]}}


def _pods(workload: Workload) -> Iterator[JsonObject]:
    for index, node in enumerate(workload.nodes):
        yield _pod(workload, _pod_name(workload, str(index)), node, _running(workload.restarts.get(index, 0)), index)
    for index, failure in enumerate(workload.failures):
        yield _pod(workload, _pod_name(workload, f"failed{index}"), failure.node, _failed(failure), index)


def _pod_name(workload: Workload, part: str) -> str:
    if workload.kind == "StatefulSet":
        return f"{workload.name}-{part}"
    suffix = _uid(workload.name, part)[:5]
    return f"{_controller(workload)[1]}-{suffix}"


def _controller(workload: Workload) -> tuple[str, str]:
    """Kind and name of the owner of the pods."""
    if workload.kind == "Deployment":
        return "ReplicaSet", f"{workload.name}-{_uid(workload.name)[:8]}"
    return workload.kind, workload.name


def _pod(workload: Workload, name: str, node: int, status: JsonObject, index: int) -> JsonObject:
    kind, owner = _controller(workload)
    template = _template(workload)
    spec = {**template["spec"], "nodeName": _node_name(node), "priority": _priority(workload)}  # type: ignore[dict-item] # made below
    if workload.claim_gib:
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{workload.name}-{index}"}}]
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": _uid(kind, owner), "controller": True}
    return {
        "metadata": {
            "name": name,
            "namespace": workload.namespace,
            "uid": _uid("pod", workload.namespace, name),
            "creationTimestamp": _instant(_SETTLED),
            "labels": _labels(workload),
            "ownerReferences": [reference],
        },
        "spec": spec,
        "status": status,
    }


def _priority(workload: Workload) -> int:
    return _CRITICAL if "critical" in workload.features else 0


def _template(workload: Workload) -> JsonObject:
    requests = {"cpu": f"{workload.cpu_milli}m", "memory": f"{workload.memory_mib}Mi"}
    container: JsonObject = {
        "name": "main",
        "image": f"registry.example.com/{workload.name}:v1",
        "resources": {"requests": requests},
    }
    spec: JsonObject = {"containers": [container], "schedulerName": "default-scheduler", **_constraints(workload)}
    if workload.kind == "DaemonSet":
        spec["tolerations"] = [{"operator": "Exists"}]
    if "port" in workload.features:
        container["ports"] = [{"containerPort": 9100, "hostPort": 9100, "protocol": "TCP"}]
    if "critical" in workload.features:
        spec["priorityClassName"] = "system-cluster-critical"
    if "scratch" in workload.features:
        spec["volumes"] = [{"name": "scratch", "emptyDir": {}}]
    return {"metadata": {"labels": _labels(workload)}, "spec": spec}


def _labels(workload: Workload) -> JsonObject:
    labels: JsonObject = {"app": workload.name}
    return labels | ({"tier": "cache"} if "apart" in workload.features else {})


def _constraints(workload: Workload) -> JsonObject:
    selector = {"matchLabels": {"app": workload.name}}
    if "spread" in workload.features:
        constraint = {"maxSkew": 1, "topologyKey": _ZONE, "whenUnsatisfiable": "DoNotSchedule"}
        return {"topologySpreadConstraints": [constraint | {"labelSelector": selector}]}
    if "apart" in workload.features:
        required = [{"labelSelector": {"matchLabels": {"tier": "cache"}}, "topologyKey": _HOST}]
        return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}
    if "general" in workload.features:
        terms = [{"matchExpressions": [{"key": _POOL, "operator": "In", "values": ["general"]}]}]
        required_nodes = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        return {"affinity": {"nodeAffinity": required_nodes}}
    return {}


def _running(restarts: int) -> JsonObject:
    crashing = {"waiting": {"reason": "CrashLoopBackOff"}}
    started = _instant(_SETTLED)
    return {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": str(not restarts), "lastTransitionTime": started}],
        "startTime": started,
        "qosClass": "Burstable",
        "containerStatuses": [
            {
                "name": "main",
                "restartCount": restarts,
                "state": crashing if restarts else {"running": {"startedAt": started}},
            }
        ],
    }


def _failed(failure: Failure) -> JsonObject:
    terminated = {"terminated": {"exitCode": 137, "reason": failure.reason}}
    return {
        "phase": "Failed",
        "reason": failure.reason,
        "startTime": _instant(_SETTLED),
        "qosClass": "Burstable",
        "containerStatuses": [{"name": "main", "restartCount": 0, "state": terminated}],
    }


def _bare_pod() -> JsonObject:
    namespace, name, node = BARE_POD
    pod = _pod(Workload(namespace, name, (node,)), name, node, _running(0), 0)
    metadata = pod["metadata"]
    assert isinstance(metadata, dict)
    del metadata["ownerReferences"]
    return pod


def _metadata(workload: Workload, name: str, kind: str) -> JsonObject:
    return {"name": name, "namespace": workload.namespace, "uid": _uid(kind, name)}


def _workload_spec(workload: Workload) -> JsonObject:
    selector = {"matchLabels": {"app": workload.name}}
    return {"replicas": len(workload.nodes), "selector": selector, "template": _template(workload)}


def _workload(workload: Workload) -> JsonObject:
    spec = _workload_spec(workload)
    if workload.claim_gib:
        size = {"requests": {"storage": f"{workload.claim_gib}Gi"}}
        claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": _STORAGE_CLASS, "resources": size}
        spec["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": claim}]
    status = {"replicas": len(workload.nodes), "readyReplicas": len(workload.nodes) - len(workload.restarts)}
    return {"metadata": _metadata(workload, workload.name, workload.kind), "spec": spec, "status": status}


def _daemon_set(workload: Workload) -> JsonObject:
    """One pod on each of its nodes, all ready."""
    spec = {"selector": {"matchLabels": {"app": workload.name}}, "template": _template(workload)}
    number = len(workload.nodes)
    status = {"desiredNumberScheduled": number, "currentNumberScheduled": number, "numberReady": number}
    return {"metadata": _metadata(workload, workload.name, workload.kind), "spec": spec, "status": status}


def _replica_set(workload: Workload) -> JsonObject:
    kind, name = _controller(workload)
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": workload.name, "controller": True}
    metadata = _metadata(workload, name, kind)
    metadata["ownerReferences"] = [owner | {"uid": _uid("Deployment", workload.name)}]
    status = {"replicas": len(workload.nodes), "readyReplicas": len(workload.nodes) - len(workload.restarts)}
    return {"metadata": metadata, "spec": _workload_spec(workload), "status": status}


def _budget(workload: Workload) -> JsonObject:
    needed = workload.budget or 0
    healthy = len(workload.nodes) - len(workload.restarts)
    return {
        "metadata": {**_metadata(workload, workload.name, "PodDisruptionBudget"), "generation": 1},
        "spec": {"minAvailable": needed, "selector": {"matchLabels": {"app": workload.name}}},
        "status": {
            "observedGeneration": 1,
            "disruptionsAllowed": max(0, healthy - needed),
            "currentHealthy": healthy,
            "desiredHealthy": needed,
            "expectedPods": len(workload.nodes),
        },
    }


def _claim(workload: Workload, index: int) -> JsonObject:
    name = f"data-{workload.name}-{index}"
    size = f"{workload.claim_gib}Gi"
    return {
        "metadata": {**_metadata(workload, name, "PersistentVolumeClaim"), "annotations": {_BOUND: "yes"}},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": _STORAGE_CLASS,
            "volumeName": f"pv-{workload.name}-{index}",
            "resources": {"requests": {"storage": size}},
        },
        "status": {"phase": "Bound", "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"]},
    }


def _volume(workload: Workload, index: int) -> JsonObject:
    """The volume behind a claim, which nodes of one zone can mount."""
    name, claim = f"pv-{workload.name}-{index}", f"data-{workload.name}-{index}"
    zones = [{"key": _ZONE, "operator": "In", "values": [_zone(workload.nodes[index])]}]
    reference = {"kind": "PersistentVolumeClaim", "namespace": workload.namespace, "name": claim}
    return {
        "metadata": {"name": name, "uid": _uid("PersistentVolume", name)},
        "spec": {
            "capacity": {"storage": f"{workload.claim_gib}Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": _STORAGE_CLASS,
            "claimRef": reference | {"uid": _uid("PersistentVolumeClaim", claim)},
            "csi": {"driver": _DRIVER, "volumeHandle": name},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": zones}]}},
        },
        "status": {"phase": "Bound"},
    }


def main() -> int:
    """The command; returns the exit code."""
    write_shop(sys.stdout.buffer)
    return 0


if __name__ == "__main__":
    sys.exit(main())

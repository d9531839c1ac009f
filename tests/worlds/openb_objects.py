"""The openb trace as Kubernetes objects. What the trace leaves open is filled in by rules that each function states."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from tests.worlds.openb_placement import Placement
from tests.worlds.openb_trace import TraceNode, TracePod

JsonObject = dict[str, object]

TRACE_AT = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
"""The moment of the snapshot; second 12,902,960 of the trace, when it ends."""

_TRACE_START = TRACE_AT - timedelta(seconds=12_902_960)
_NAMESPACES = {"LS": "online", "BE": "batch"}
_PRIORITIES = {"LS": ("latency-sensitive", 1000), "BE": ("best-effort", -100)}
_ZONE = "topology.kubernetes.io/zone"
_HOST = "kubernetes.io/hostname"
_POOL = "example.com/pool"
_MODEL = "node.koordinator.sh/gpu-model"
_CORE, _RATIO = "koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio"


@dataclass(frozen=True, slots=True)
class Group:
    """A ReplicaSet and its Deployment of the same name: pods of equal requests, created one after another."""

    index: int
    name: str
    uid: str
    pods: tuple[TracePod, ...]

    @property
    def namespace(self) -> str:
        """`online`, `batch` or `shared`, by the class of service."""
        return namespace_of(self.pods[0])


def namespace_of(pod: TracePod) -> str:
    """The namespace that stands for the pod's class of service."""
    return _NAMESPACES.get(pod.qos, "shared")


def group_pods(pods: Sequence[TracePod], rng: random.Random) -> list[Group]:
    """Groups of 4 to 40 pods, in order of their first pod; the last of equal pods may form a smaller group."""
    waiting: dict[tuple[object, ...], list[TracePod]] = {}
    sizes: dict[tuple[object, ...], int] = {}
    groups: list[Group] = []

    def close(key: tuple[object, ...]) -> None:
        uid = str(UUID(int=rng.getrandbits(128), version=4))
        groups.append(Group(len(groups), f"openb-{len(groups):03d}", uid, tuple(waiting.pop(key))))

    for pod in pods:
        key: tuple[object, ...] = (pod.cpu_milli, pod.memory_mib, pod.num_gpus, pod.gpu_milli, pod.models, pod.qos)
        if key not in waiting:
            waiting[key], sizes[key] = [], rng.randint(4, 40)
        waiting[key].append(pod)
        if len(waiting[key]) == sizes[key]:
            close(key)
    for left in list(waiting):
        close(left)
    return groups


def node_object(node: TraceNode, index: int, rng: random.Random) -> JsonObject:
    """A node. Zones go round by index; 2 % are tainted for maintenance, 1 % left their pool, 0.5 % are cordoned.

    GPUs are offered by the resource names of Koordinator alone, 100 a device, so that parts and whole devices share
    one account.
    """
    draw = rng.random()
    pool = "gpu" if node.num_gpus else "cpu"
    labels = {
        _HOST: node.name,
        "kubernetes.io/os": "linux",
        _ZONE: f"zone-{'abc'[index % 3]}",
        _POOL: "retired" if 0.02 <= draw < 0.03 else pool,
    }
    if node.model:
        labels[_MODEL] = node.model
    spec: JsonObject = {}
    if draw < 0.02:
        spec["taints"] = [{"key": "maintenance", "value": "planned", "effect": "NoSchedule"}]
    elif draw > 0.995:
        spec = {
            "unschedulable": True,
            "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}],
        }
    resources = {"cpu": f"{node.cpu_milli}m", "memory": f"{node.memory_mib}Mi", "pods": "110"}
    if node.num_gpus:
        resources |= {_CORE: str(100 * node.num_gpus), _RATIO: str(100 * node.num_gpus)}
    return {
        "metadata": {"name": node.name, "uid": f"00000000-0000-4000-8000-{index:012x}", "labels": labels},
        "spec": spec,
        "status": {
            "allocatable": resources,
            "capacity": resources,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }


def device_object(node: TraceNode) -> JsonObject:
    """Koordinator's Device of a GPU node. The trace does not tell how much memory a GPU has."""
    return {
        "metadata": {"name": node.name, "labels": {_MODEL: node.model}},
        "spec": {
            "devices": [
                {"type": "gpu", "minor": minor, "health": True, "resources": {_CORE: "100", _RATIO: "100"}}
                for minor in range(node.num_gpus)
            ]
        },
    }


def pod_object(pod: TracePod, group: Group, placement: Placement, rng: random.Random) -> JsonObject:
    """A pod where it was placed. One running pod in sixty keeps crashing."""
    uid = str(UUID(int=rng.getrandbits(128), version=4))
    is_crashing = rng.random() < 1 / 60
    created = (_TRACE_START + timedelta(seconds=pod.created_seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
    metadata: JsonObject = {
        "name": pod.name,
        "namespace": group.namespace,
        "uid": uid,
        "creationTimestamp": created,
        "labels": {"app": group.name},
        "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": group.name, "uid": group.uid, "controller": True}
        ],
    }
    if placement.gpus and pod.phase == "Running":
        metadata["annotations"] = {"scheduling.koordinator.sh/device-allocated": _allocation(pod, placement.gpus)}
    spec = _spec(pod, group)
    if placement.node is not None:
        spec["nodeName"] = placement.node.name
    return {
        "metadata": metadata,
        "spec": spec,
        "status": _status(pod, placement, created, rng, is_crashing=is_crashing),
    }


def _share(pod: TracePod) -> int:
    """Hundredths of one GPU, rounded up."""
    return -(-pod.gpu_milli // 10)


def _allocation(pod: TracePod, gpus: Sequence[int]) -> str:
    share = str(_share(pod))
    allocated = [{"minor": minor, "resources": {_CORE: share, _RATIO: share}} for minor in sorted(gpus)]
    return json.dumps({"gpu": allocated}, separators=(",", ":"))


def _spec(pod: TracePod, group: Group) -> JsonObject:
    requests = {"cpu": f"{pod.cpu_milli}m", "memory": f"{pod.memory_mib}Mi"}
    gpus = {name: str(_share(pod) * pod.num_gpus) for name in (_CORE, _RATIO)} if pod.num_gpus else {}
    # Latency-sensitive and guaranteed pods may not exceed their requests; the others have no limits.
    limits = (requests if pod.qos in ("LS", "Guaranteed") else {}) | gpus
    spec: JsonObject = {
        "containers": [
            {
                "name": "main",
                "image": f"registry.example.com/{group.name}:v1",
                "resources": {"requests": requests | gpus, "limits": limits},
            }
        ],
        "schedulerName": "koord-scheduler",
        "priority": 0,
    }
    if pod.qos in _PRIORITIES:
        spec["priorityClassName"], spec["priority"] = _PRIORITIES[pod.qos]
    return spec | _constraints(pod, group)


def _constraints(pod: TracePod, group: Group) -> JsonObject:
    """A quarter of the groups each ask for even zones, one pod a host, or their pool; the placement knows of none."""
    selector = {"matchLabels": {"app": group.name}}
    expressions = [{"key": _MODEL, "operator": "In", "values": list(pod.models)}] if pod.models else []
    affinity: JsonObject = {}
    constraints: JsonObject = {}
    match group.index % 4:
        case 0:
            constraints["topologySpreadConstraints"] = [
                {"maxSkew": 2, "topologyKey": _ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
            ]
        case 1:
            term = {"labelSelector": selector, "topologyKey": _HOST}
            affinity["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        case 2:
            pools = ["gpu"] if pod.num_gpus else ["cpu", "gpu"]
            expressions.append({"key": _POOL, "operator": "In", "values": pools})
    if expressions:
        terms = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
        affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    return constraints | ({"affinity": affinity} if affinity else {})


def _status(pod: TracePod, placement: Placement, created: str, rng: random.Random, *, is_crashing: bool) -> JsonObject:
    qos = "Guaranteed" if pod.qos in ("LS", "Guaranteed") else "Burstable"
    if placement.node is None:
        unbound = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": created}
        return {"phase": "Pending", "conditions": [unbound], "qosClass": qos}
    ready = "True" if pod.phase == "Running" and not is_crashing else "False"
    state: JsonObject = {"running": {"startedAt": created}}
    restarts = 0
    match pod.phase:
        case "Failed":
            state = {"terminated": {"exitCode": 1, "reason": "Error"}}
        case "Succeeded":
            state = {"terminated": {"exitCode": 0, "reason": "Completed"}}
        case _ if is_crashing:
            state, restarts = {"waiting": {"reason": "CrashLoopBackOff"}}, rng.randint(100, 900)
    return {
        "phase": pod.phase,
        "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": created}],
        "startTime": created,
        "qosClass": qos,
        "containerStatuses": [{"name": "main", "restartCount": restarts, "state": state}],
    }


def workload_object(group: Group, kind: str) -> JsonObject:
    """The ReplicaSet or the Deployment of a group."""
    deployment_uid = f"{group.uid[:24]}{group.index:012x}"
    metadata: JsonObject = {"name": group.name, "namespace": group.namespace, "uid": deployment_uid}
    if kind == "ReplicaSet":
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": group.name, "uid": deployment_uid}
        metadata |= {"uid": group.uid, "ownerReferences": [owner | {"controller": True}]}
    spec = {"replicas": len(group.pods), "selector": {"matchLabels": {"app": group.name}}}
    return {"metadata": metadata, "spec": spec}


def budget_object(group: Group, num_healthy: int) -> JsonObject | None:
    """A budget of a tenth of the pods for every third group; for every ninth, one that allows nothing."""
    if group.index % 3:
        return None
    allowed = 0 if group.index % 9 == 0 else max(1, len(group.pods) // 10)
    return {
        "metadata": {"name": group.name, "namespace": group.namespace, "generation": 1},
        "spec": {"maxUnavailable": allowed, "selector": {"matchLabels": {"app": group.name}}},
        "status": {
            "observedGeneration": 1,
            "disruptionsAllowed": max(0, num_healthy - (len(group.pods) - allowed)),
            "currentHealthy": num_healthy,
            "desiredHealthy": len(group.pods) - allowed,
            "expectedPods": len(group.pods),
        },
    }

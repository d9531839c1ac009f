"""Pods of a synthetic cluster, as large as the API server sends them (about 4 KB each).

A pod is a template of its workload, encoded once, with the few parts that differ from pod to pod filled in.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from tests.worlds.synthetic_nodes import GPU_TAINT, Place
from tests.worlds.synthetic_workloads import Workload, make_uid

JsonObject = dict[str, object]

_STATES = ("Running", "CrashLoopBackOff", "Failed", "Pending")
_SLOTS = (
    "name",
    "uid",
    "suffix",
    "node",
    "created",
    "started",
    "restarts",
    "container_id",
    "address",
    "version",
    "claim",
)


@dataclass
class PodTemplates:
    """Makes the pods of one workload. `now` is the moment of the snapshot."""

    workload: Workload
    now: datetime

    def __post_init__(self) -> None:
        self._texts: dict[str, str] = {}

    def render(self, ordinal: int, place: Place | None, state: str, rng: random.Random) -> str:
        """The JSON text of pod number `ordinal` on `place` (None while it waits), in one of the states of a pod."""
        text = self._texts.get(state)
        if text is None:
            text = self._texts[state] = _template(self.workload, state)
        age_seconds = int(rng.expovariate(1 / 86400) * 6) + 30
        created = self.now - timedelta(seconds=min(age_seconds, 60 * 86400))
        suffix = f"{rng.getrandbits(25):05x}"[-5:]
        name = _pod_name(self.workload, ordinal, suffix)
        return text % {
            "name": name,
            "uid": make_uid(rng),
            "suffix": suffix,
            "node": place.name if place else "",
            "created": _stamp(created),
            "started": _stamp(created + timedelta(seconds=2 + age_seconds % 9)),
            "restarts": rng.randint(100, 2500) if state == "CrashLoopBackOff" else age_seconds % 50 == 0,
            "container_id": f"{rng.getrandbits(256):064x}",
            "address": f"10.{ordinal % 200}.{rng.getrandbits(8)}.{rng.getrandbits(8)}",
            "version": 80_000_000 + rng.getrandbits(20),
            "claim": f"data-{name}",
        }


def _pod_name(workload: Workload, ordinal: int, suffix: str) -> str:
    match workload.kind:
        case "StatefulSet":
            return f"{workload.name}-{ordinal}"
        case "":
            return f"{workload.name}-bare-{ordinal}"
        case _:
            # The ordinal keeps names unique where the API server would draw another suffix.
            return f"{workload.name}-{ordinal:x}{suffix}"


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def pod_template(workload: Workload) -> JsonObject:
    """`spec.template` of the workload's owner: what the pods are made from, before admission adds to it."""
    spec = _spec(workload, "Pending")
    spec["volumes"] = [
        volume for volume in _volumes(workload) if not {"projected", "persistentVolumeClaim"} & set(volume)
    ]
    for added in ("priority", "preemptionPolicy", "serviceAccount"):
        spec.pop(added, None)
    container = _container(workload)
    mounts = container["volumeMounts"]
    assert isinstance(mounts, list)
    container["volumeMounts"] = [mount for mount in mounts if not mount["name"].startswith("kube-api-access")]
    return {"metadata": {"labels": _labels(workload)}, "spec": spec | {"containers": [container]}}


def _template(workload: Workload, state: str) -> str:
    assert state in _STATES, state
    pod = {"metadata": _metadata(workload), "spec": _spec(workload, state), "status": _status(workload, state)}
    text = msgspec.json.encode(pod).decode().replace("%", "%%")
    for slot in _SLOTS:
        text = text.replace(f"@{slot}@", f"%({slot})s")
    # Restart counts are the only slot that is a number.
    return text.replace('"%(restarts)s"', "%(restarts)d")


def _metadata(workload: Workload) -> JsonObject:
    metadata: JsonObject = {
        "name": "@name@",
        "generateName": f"{workload.name}-",
        "namespace": workload.namespace,
        "uid": "@uid@",
        "resourceVersion": "@version@",
        "creationTimestamp": "@created@",
        "labels": _labels(workload),
        "annotations": {
            "kubernetes.io/psp": "restricted",
            "prometheus.io/scrape": "true",
            "cni.projectcalico.org/podIP": "@address@/32",
        },
        "managedFields": [_managed_fields("kube-controller-manager", ""), _managed_fields("kubelet", "status")],
    }
    if workload.kind:
        version = "batch/v1" if workload.kind == "Job" else "apps/v1"
        owner = {"apiVersion": version, "kind": workload.kind, "name": workload.name, "uid": workload.uid}
        metadata["ownerReferences"] = [owner | {"controller": True, "blockOwnerDeletion": True}]
    return metadata


def _labels(workload: Workload) -> JsonObject:
    return {
        "app": f"service-{workload.index}",
        "app.kubernetes.io/part-of": workload.namespace,
        "pod-template-hash": workload.name.rpartition("-")[2],
    }


def _managed_fields(manager: str, subresource: str) -> JsonObject:
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": "@started@",
        "fieldsType": "FieldsV1",
        "fieldsV1": _STATUS_OWNED if subresource else _SPEC_OWNED,
        "subresource": subresource,
    }


_STATUS_OWNED: JsonObject = {
    "f:status": {
        "f:conditions": {
            f'k:{{"type":"{kind}"}}': {".": {}, "f:lastProbeTime": {}, "f:status": {}, "f:type": {}}
            for kind in ("ContainersReady", "Initialized", "Ready")
        },
        **{f"f:{name}": {} for name in ("containerStatuses", "hostIP", "phase", "podIP", "startTime")},
    }
}
_SPEC_OWNED: JsonObject = {
    "f:metadata": {"f:generateName": {}, "f:labels": {".": {}, "f:app": {}}, "f:ownerReferences": {}},
    "f:spec": {
        "f:containers": {
            'k:{"name":"main"}': {
                f"f:{name}": {} for name in ("image", "name", "ports", "resources", "readinessProbe", "env")
            }
        },
        **{f"f:{name}": {} for name in ("dnsPolicy", "enableServiceLinks", "restartPolicy", "schedulerName")},
    },
}


def _spec(workload: Workload, state: str) -> JsonObject:
    seconds = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    tolerations: list[JsonObject] = [
        {"key": "node.kubernetes.io/not-ready", **seconds},
        {"key": "node.kubernetes.io/unreachable", **seconds},
    ]
    if workload.num_gpus or workload.kind == "DaemonSet":
        tolerations.append({"key": GPU_TAINT["key"], "operator": "Exists", "effect": "NoSchedule"})
    if workload.trait == "tolerant" or workload.kind == "DaemonSet":
        tolerations.append({"operator": "Exists", "effect": "NoSchedule"})
    spec: JsonObject = {
        "containers": [_container(workload)],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "restartPolicy": "Never" if workload.kind == "Job" else "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {"runAsNonRoot": True, "fsGroup": 1000},
        "serviceAccount": "default",
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
        "tolerations": tolerations,
        "volumes": _volumes(workload),
        "priority": {"business": 1000, "batch": -10, "system-node-critical": 2_000_001_000}.get(
            workload.priority_class, 0
        ),
    }
    if workload.priority_class:
        spec["priorityClassName"] = workload.priority_class
    if state != "Pending":
        spec["nodeName"] = "@node@"
    return spec | _placement(workload)


def _placement(workload: Workload) -> JsonObject:
    selector = {"matchLabels": {"app": f"service-{workload.index}"}}
    zone, host = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
    match workload.trait:
        case "spread" | "soft":
            hard = workload.trait == "spread"
            return {
                "topologySpreadConstraints": [
                    {
                        "maxSkew": 1,
                        "topologyKey": zone,
                        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
                        "labelSelector": selector,
                    }
                ]
            }
        case "anti-affinity":
            term = {"labelSelector": selector, "topologyKey": host}
            return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
        case "pool-affinity":
            expression = {"key": "node.example.com/pool", "operator": "In", "values": [workload.pool]}
            terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
            return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}
        case _:
            return {}


def _container(workload: Workload) -> JsonObject:
    requests = {"cpu": f"{workload.cpu_milli}m", "memory": f"{workload.memory_mib}Mi"}
    limits = {"memory": f"{workload.memory_mib * 2}Mi"}
    if workload.num_gpus:
        requests["nvidia.com/gpu"] = limits["nvidia.com/gpu"] = str(workload.num_gpus)
    probe = {
        "httpGet": {"path": "/healthz", "port": "http", "scheme": "HTTP"},
        "periodSeconds": 10,
        "timeoutSeconds": 1,
    }
    field_env = {"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}}
    names = ("DATABASE_URL", "CACHE_URL", "QUEUE_URL", "LOG_LEVEL", "REGION", "FEATURE_FLAGS")
    mounts = [
        {"name": "config", "mountPath": "/etc/service", "readOnly": True},
        {
            "name": "kube-api-access-@suffix@",
            "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
            "readOnly": True,
        },
    ]
    return {
        "name": "main",
        "image": f"registry.example.com/{workload.namespace}/service-{workload.index % 400}:v{workload.index % 7}",
        "imagePullPolicy": "IfNotPresent",
        "args": ["serve", "--port=8080"],
        "env": [{"name": name, "value": f"{name.lower()}.svc.cluster.local:{workload.index}"} for name in names]
        + [field_env],
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "resources": {"requests": requests, "limits": limits},
        "livenessProbe": {**probe, "failureThreshold": 3},
        "readinessProbe": {**probe, "failureThreshold": 1},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": mounts,
    }


def _volumes(workload: Workload) -> list[JsonObject]:
    downward = {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": downward},
    ]
    volumes: list[JsonObject] = [
        {"name": "config", "configMap": {"name": f"service-{workload.index}", "defaultMode": 420}},
        {"name": "kube-api-access-@suffix@", "projected": {"sources": sources, "defaultMode": 420}},
    ]
    if workload.kind == "StatefulSet":
        volumes.append({"name": "data", "persistentVolumeClaim": {"claimName": "@claim@"}})
    elif workload.index % 6 == 3:
        volumes.append({"name": "scratch", "emptyDir": {}})
    return volumes


def _status(workload: Workload, state: str) -> JsonObject:
    if state == "Pending":
        unbound = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "lastTransitionTime": "@created@",
        }
        return {"phase": "Pending", "conditions": [unbound], "qosClass": "Burstable"}
    container = {
        "name": "main",
        "image": f"registry.example.com/{workload.namespace}/service-{workload.index % 400}:v{workload.index % 7}",
        "imageID": f"registry.example.com/{workload.namespace}/service@sha256:@container_id@",
        "containerID": "containerd://@container_id@",
        "ready": state == "Running",
        "started": state == "Running",
        "restartCount": "@restarts@",
        "lastState": {},
        "state": _container_state(state),
    }
    return {
        "phase": "Failed" if state == "Failed" else "Running",
        "conditions": _conditions(is_ready=state == "Running"),
        "hostIP": "10.0.0.1",
        "podIP": "@address@",
        "podIPs": [{"ip": "@address@"}],
        "startTime": "@created@",
        "containerStatuses": [container],
        "qosClass": "Burstable",
    }


def _conditions(*, is_ready: bool) -> list[JsonObject]:
    ready = "True" if is_ready else "False"
    return [
        {"type": kind, "status": status, "lastProbeTime": None, "lastTransitionTime": "@started@"}
        for kind, status in (
            ("PodReadyToStartContainers", "True"),
            ("Initialized", "True"),
            ("Ready", ready),
            ("ContainersReady", ready),
            ("PodScheduled", "True"),
        )
    ]


def _container_state(state: str) -> JsonObject:
    match state:
        case "Failed":
            return {
                "terminated": {"exitCode": 1, "reason": "Error", "startedAt": "@started@", "finishedAt": "@started@"}
            }
        case "CrashLoopBackOff":
            return {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}}
        case _:
            return {"running": {"startedAt": "@started@"}}

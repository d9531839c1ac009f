"""An object of every kind that is read, with a canary in each string that no rule reads."""

from __future__ import annotations

from descheduler.cluster.kind import AnyKind
from descheduler.cluster.kinds import KINDS
from tests.builders import Object
from tests.cluster.dumps.full_devices import device_objects
from tests.cluster.dumps.full_koordinator import koordinator_objects
from tests.cluster.dumps.full_metadata import CANARY, CONDITION, IDLE_ANNOTATIONS, SELECTOR, full_metadata
from tests.cluster.dumps.full_pods import full_claim_template, full_pod, full_template
from tests.cluster.dumps.full_storage import storage_objects
from tests.cluster.dumps.full_volcano import volcano_objects


def full_objects() -> dict[str, Object]:
    """Key of a kind → object."""
    objects = _cluster_objects() | device_objects() | storage_objects() | koordinator_objects() | volcano_objects()
    objects |= {kind: _workload(kind) for kind in _WORKLOADS}
    return {key: _typed(kind, objects.get(key) or objects[kind.name]) for key, kind in KINDS.items()}


def _typed(kind: AnyKind, obj: Object) -> Object:
    return {"kind": kind.name, "apiVersion": kind.api_version, "metadata": full_metadata("x"), **obj}


_WORKLOADS = ("ReplicaSet", "Deployment", "StatefulSet", "ReplicationController", "Job", "DaemonSet", "CloneSet")


def _workload(kind: str) -> Object:
    annotations = IDLE_ANNOTATIONS | {"deployment.kubernetes.io/revision": "7"}
    return {
        "metadata": full_metadata("x", annotations=annotations, uid=kind),
        "spec": {
            "replicas": 3,
            "minReadySeconds": 5,
            "selector": {"app": "x"} if kind == "ReplicationController" else SELECTOR,
            "template": full_template(),
            "volumeClaimTemplates": [full_claim_template()],
            "serviceName": CANARY,
            "podManagementPolicy": "Parallel",
            "ordinals": {"start": 1},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1, "maxSurge": "25%"}},
            "strategy": {"type": CANARY},
            **(_job_spec() if kind == "Job" else {}),
        },
        "status": {
            "observedGeneration": 0,
            "conditions": [CONDITION | {"type": "FailureTarget", "status": "True"}],
            "currentRevision": "x-1",
            "updateRevision": "x-2",
            **(_job_status() if kind == "Job" else {}),
        },
    }


def _job_spec() -> Object:
    codes = {"containerName": CANARY, "operator": "In", "values": [143]}
    return {
        "parallelism": 2,
        "completions": 2,
        "completionMode": "Indexed",
        "suspend": True,
        "managedBy": "x.io/y",
        "podReplacementPolicy": "Failed",
        "backoffLimit": 1,
        "backoffLimitPerIndex": 2,
        "maxFailedIndexes": 3,
        "activeDeadlineSeconds": 60,
        "podFailurePolicy": {
            "rules": [
                {"action": "FailJob", "onExitCodes": codes},
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            ]
        },
    }


def _job_status() -> Object:
    return {
        "startTime": "2026-01-01T00:00:00Z",
        "succeeded": 1,
        "failed": 1,
        "completedIndexes": "0",
        "failedIndexes": "1",
        "uncountedTerminatedPods": {"failed": ["u"], "succeeded": [CANARY]},
    }


def _revision() -> Object:
    return {"revision": 7, "data": {"spec": {"template": full_template()}}}


def _cluster_objects() -> dict[str, Object]:
    return {
        "Pod": full_pod(),
        "Node": _node(),
        "Namespace": {"spec": {"finalizers": [CANARY]}, "status": {"phase": "Terminating", "conditions": [CONDITION]}},
        "ControllerRevision": _revision(),
        "PriorityClass": {"value": 5, "globalDefault": True, "description": CANARY, "preemptionPolicy": "Never"},
        "PodDisruptionBudget": _budget(),
        "Service": {"spec": {"selector": {"app": "x"}, "clusterIP": CANARY, "externalName": CANARY}},
        "RuntimeClass": _runtime_class(),
        "LimitRange": _limit_range(),
        "ResourceQuota": _quota(),
        "NodeMetrics": {"timestamp": CANARY, "window": CANARY, "usage": {"cpu": "1"}},
        "PodMetrics": {"timestamp": CANARY, "window": CANARY, "containers": [{"name": CANARY, "usage": {"cpu": "1"}}]},
    }


def _node() -> Object:
    return {
        "spec": {
            "podCIDR": CANARY,
            "providerID": CANARY,
            "configSource": {"configMap": {"name": CANARY}},
            "unschedulable": True,
            "taints": [
                {"key": "gpu", "value": "yes", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"},
            ],
        },
        "status": {
            "capacity": {"cpu": "8"},
            "allocatable": {"cpu": "7"},
            "phase": CANARY,
            "conditions": [
                {
                    "type": "Ready",
                    "status": "False",
                    "reason": CANARY,
                    "message": CANARY,
                    "lastHeartbeatTime": "2026-01-01T00:00:00Z",
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                }
            ],
            "addresses": [{"type": CANARY, "address": CANARY}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 1}},
            "nodeInfo": {"machineID": CANARY, "systemUUID": CANARY, "bootID": CANARY, "kubeletVersion": CANARY},
            "images": [{"names": ["app:1"], "sizeBytes": 5}],
            "volumesInUse": [CANARY],
            "volumesAttached": [{"name": CANARY, "devicePath": CANARY}],
            "config": {"error": CANARY},
            "runtimeHandlers": [{"name": CANARY}],
            "declaredFeatures": ["New"],
        },
    }


def _budget() -> Object:
    return {
        "spec": {
            "minAvailable": 2,
            "selector": SELECTOR,
            "maxUnavailable": "10%",
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
        "status": {
            "observedGeneration": 2,
            "disruptedPods": {"web-1": "2026-01-01T00:00:00Z"},
            "disruptionsAllowed": 3,
            "currentHealthy": 4,
            "desiredHealthy": 5,
            "expectedPods": 6,
            "conditions": [
                {
                    "type": "DisruptionAllowed",
                    "status": "False",
                    "reason": "SyncFailed",
                    "message": "jobs.batch does not implement the scale subresource",
                    "lastTransitionTime": CANARY,
                }
            ],
        },
    }


def _runtime_class() -> Object:
    return {
        "handler": CANARY,
        "overhead": {"podFixed": {"cpu": "1"}},
        "scheduling": {
            "nodeSelector": {"pool": "slow"},
            "tolerations": [
                {"key": "slow", "operator": "Equal", "value": "yes", "effect": "NoExecute", "tolerationSeconds": 3}
            ],
        },
    }


def _limit_range() -> Object:
    return {
        "spec": {
            "limits": [
                {
                    "type": "Container",
                    "max": {"cpu": "4"},
                    "min": {"cpu": "100m"},
                    "default": {"cpu": "2"},
                    "defaultRequest": {"cpu": "1"},
                    "maxLimitRequestRatio": {"cpu": "4"},
                }
            ]
        }
    }


def _quota() -> Object:
    return {
        "spec": {
            "hard": {"pods": "4"},
            "scopes": ["BestEffort"],
            "scopeSelector": {
                "matchExpressions": [
                    {"scopeName": "PriorityClass", "operator": "In", "values": ["high"], "note": CANARY}
                ]
            },
        },
        "status": {"hard": {"pods": "5"}, "used": {"pods": "3"}},
    }

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

__all__ = ["full_objects"]

_READ_ON_JOBS = {
    "descheduler.alpha.kubernetes.io/evict": "",
    "descheduler.koordinator.sh/passed-arbitration": "true",
}


_NODE_GROUPS = {
    "requiredDuringSchedulingIgnoredDuringExecution": ["gpu"],
    "preferredDuringSchedulingIgnoredDuringExecution": ["cpu"],
}


def full_objects() -> dict[str, Object]:
    """Key of a kind → object."""
    objects = (
        _cluster_objects() | storage_objects() | koordinator_objects() | {kind: _workload(kind) for kind in _WORKLOADS}
    )
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
        "Node": {
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
        },
        "Namespace": {"spec": {"finalizers": [CANARY]}, "status": {"phase": "Terminating", "conditions": [CONDITION]}},
        "ControllerRevision": _revision(),
        "PriorityClass": {"value": 5, "globalDefault": True, "description": CANARY, "preemptionPolicy": "Never"},
        "PodDisruptionBudget": {
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
        },
        "Service": {"spec": {"selector": {"app": "x"}, "clusterIP": CANARY, "externalName": CANARY}},
        "RuntimeClass": {
            "handler": CANARY,
            "overhead": {"podFixed": {"cpu": "1"}},
            "scheduling": {
                "nodeSelector": {"pool": "slow"},
                "tolerations": [
                    {"key": "slow", "operator": "Equal", "value": "yes", "effect": "NoExecute", "tolerationSeconds": 3}
                ],
            },
        },
        "LimitRange": {
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
        },
        "ResourceQuota": {
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
        },
        "PodMigrationJob": {
            "metadata": full_metadata("x", annotations=IDLE_ANNOTATIONS | _READ_ON_JOBS),
            "spec": {
                "paused": True,
                "ttl": "5m",
                "mode": "EvictDirectly",
                "podRef": {"namespace": "shop", "name": "x", "uid": "uid-x", "fieldPath": CANARY, "kind": CANARY},
                "deleteOptions": {"preconditions": {"uid": CANARY}},
                "reservationOptions": {"template": full_template(), "reservationRef": {"name": "r", "kind": CANARY}},
            },
            "status": {
                "phase": "Running",
                "status": "Eviction",
                "reason": "Evicting",
                "message": CANARY,
                "conditions": [
                    {
                        "type": "Eviction",
                        "status": "False",
                        "reason": "Evicting",
                        "message": CANARY,
                        "lastTransitionTime": "2026-06-30T12:00:00Z",
                    }
                ],
                "nodeName": "n",
                "podRef": {"namespace": "shop", "name": "y", "uid": "uid-y", "fieldPath": CANARY},
            },
        },
        "ElasticQuota": {
            "metadata": full_metadata(
                "x",
                annotations=IDLE_ANNOTATIONS
                | {
                    "quota.scheduling.koordinator.sh/shared-weight": '{"cpu": "3"}',
                    "quota.scheduling.koordinator.sh/namespaces": '["shop"]',
                    "quota.scheduling.koordinator.sh/runtime": CANARY,
                },
            ),
            "spec": {"min": {"cpu": "1"}, "max": {"cpu": "2"}, "description": CANARY},
            "status": {"used": {"cpu": "1"}, "message": CANARY, "conditions": [CONDITION]},
        },
        "PodGroup": {
            "metadata": full_metadata("x", annotations=IDLE_ANNOTATIONS),
            "spec": {
                "minMember": 3,
                "queue": "q",
                "priorityClassName": "high",
                "scheduleTimeoutSeconds": 60,
                "minResources": {"cpu": "1"},
                "minTaskMember": {"worker": 2},
                "networkTopology": {"mode": CANARY, "highestTierName": CANARY},
                "notes": [CANARY] * 8,
            },
            "status": {
                "phase": "Running",
                **dict.fromkeys(("scheduled", "running", "succeeded", "failed"), 1),
                "occupiedBy": "batch/x",
                "scheduleStartTime": "2026-06-30T12:00:00Z",
                "conditions": [CONDITION],
            },
        },
        "PodGroup.scheduling.k8s.io": {
            "spec": {
                "schedulingPolicy": {"gang": {"minCount": 3}},
                "disruptionMode": {"all": {"x": CANARY}},
                "workloadRef": {"workloadName": CANARY, "templateName": CANARY},
                "priorityClassName": CANARY,
            },
            "status": {"conditions": [CONDITION]},
        },
        "Job.batch.volcano.sh": {
            "metadata": full_metadata("x", annotations=IDLE_ANNOTATIONS),
            "spec": {
                "minAvailable": 1,
                "policies": [{"event": "PodEvicted", "events": ["PodFailed"], "action": "RestartJob", "exitCode": 1}],
                "tasks": [
                    {
                        "name": "worker",
                        "replicas": 1,
                        "template": {"spec": {"containers": [{"command": [CANARY]}]}},
                        "policies": [{"event": "*", "events": ["*"], "action": "AbortJob", "timeout": "1m"}],
                    }
                ],
                "maxRetry": 3,
                "plugins": {"env": [CANARY]},
            },
            "status": {"state": {"phase": "Running", "message": CANARY}, "retryCount": 1},
        },
        "Queue": {
            "metadata": full_metadata("x", annotations=IDLE_ANNOTATIONS),
            "spec": {
                "weight": 2,
                "priority": 5,
                "capability": {"cpu": "8"},
                "deserved": {"cpu": "4"},
                "guarantee": {"resource": {"cpu": "1"}},
                "affinity": {
                    "nodeGroupAffinity": _NODE_GROUPS,
                    "nodeGroupAntiAffinity": _NODE_GROUPS,
                },
                "reclaimable": False,
                "parent": "root",
                "type": "batch",
                "extendClusters": [{"name": CANARY}],
                "dequeueStrategy": CANARY,
            },
            "status": {
                "state": "Open",
                "allocated": {"cpu": "2"},
                "reservation": {"nodes": [CANARY]},
                **dict.fromkeys(("pending", "running", "inqueue"), 1),
            },
        },
        **device_objects(),
        "NodeMetrics": {"timestamp": CANARY, "window": CANARY, "usage": {"cpu": "1"}},
        "PodMetrics": {"timestamp": CANARY, "window": CANARY, "containers": [{"name": CANARY, "usage": {"cpu": "1"}}]},
    }

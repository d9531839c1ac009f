"""An object of every kind that is read, with a canary in each string that no rule reads."""

from __future__ import annotations

from descheduler.cluster.kind import AnyKind
from descheduler.cluster.kinds import KINDS
from tests.builders import Object
from tests.cluster.dumps.full_devices import device_objects
from tests.cluster.dumps.full_pods import (
    CANARY,
    IDLE_ANNOTATIONS,
    full_claim_spec,
    full_claim_template,
    full_metadata,
    full_pod,
    full_template,
)

__all__ = ["full_objects"]

_READ_ON_JOBS = {
    "descheduler.alpha.kubernetes.io/evict": "",
    "descheduler.koordinator.sh/passed-arbitration": "true",
}
_SELECTOR: Object = {
    "matchLabels": {"app": "x"},
    "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}],
}
_CONDITION = {"type": CANARY, "status": CANARY, "reason": CANARY, "message": CANARY}
_SECRET_REF = {"name": CANARY, "namespace": CANARY}


_NODE_GROUPS = {
    "requiredDuringSchedulingIgnoredDuringExecution": ["gpu"],
    "preferredDuringSchedulingIgnoredDuringExecution": ["cpu"],
}


def full_objects() -> dict[str, Object]:
    """Key of a kind → object."""
    objects = _cluster_objects() | _storage_objects() | {kind: _workload(kind) for kind in _WORKLOADS}
    return {key: _typed(kind, objects.get(key) or objects[kind.name]) for key, kind in KINDS.items()}


def _typed(kind: AnyKind, obj: Object) -> Object:
    return {"kind": kind.name, "apiVersion": kind.api_version, "metadata": full_metadata("x"), **obj}


_WORKLOADS = ("ReplicaSet", "Deployment", "StatefulSet", "ReplicationController", "Job", "DaemonSet", "CloneSet")


def _device() -> Object:
    partitions = '{"1": [{"minors": [0], "gpuLinkType": "NVLink", "ringBusBandwidth": "200Gi", "allocationScore": 1}]}'
    annotations = IDLE_ANNOTATIONS | {"scheduling.koordinator.sh/gpu-partitions": partitions}
    return {
        "metadata": full_metadata("x", annotations=annotations),
        "spec": {
            "devices": [
                {
                    "type": "gpu",
                    "id": "GPU-1",
                    "minor": 0,
                    "moduleID": 0,
                    "health": True,
                    "labels": {"zone": "a"},
                    "resources": {"koordinator.sh/gpu-core": "100"},
                    "topology": {"socketID": 0, "nodeID": 1, "pcieID": "2", "busID": "0000:00:00.0"},
                    "vfGroups": [{"labels": {"type": "fast"}, "vfs": [{"minor": 1, "busID": "0000:00:00.1"}]}],
                    "conditions": [_CONDITION],
                }
            ]
        },
        "status": {
            "allocations": [
                {
                    "type": "gpu",
                    "entries": [{"namespace": "x", "name": "y", "uuid": "u", "minors": [0], "notes": CANARY}],
                }
            ]
        },
    }


def _workload(kind: str) -> Object:
    annotations = IDLE_ANNOTATIONS | {"deployment.kubernetes.io/revision": "7"}
    return {
        "metadata": full_metadata("x", annotations=annotations, uid=kind),
        "spec": {
            "replicas": 3,
            "minReadySeconds": 5,
            "selector": {"app": "x"} if kind == "ReplicationController" else _SELECTOR,
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
            "conditions": [_CONDITION | {"type": "FailureTarget", "status": "True"}],
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


def _reservation() -> Object:
    annotations = IDLE_ANNOTATIONS | {
        "scheduling.koordinator.sh/reservation-restricted-options": '{"resources":["cpu"]}'
    }
    template = full_template()
    controller = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "uid-x", "controller": True}
    return {
        "metadata": full_metadata("x", annotations=annotations, uid="uid-r"),
        "spec": {
            "template": {**template, "metadata": {**template["metadata"], "namespace": "shop"}},
            "owners": [
                {
                    "object": {
                        "apiVersion": "v1",
                        "kind": "Pod",
                        "namespace": "shop",
                        "name": "x",
                        "uid": "uid-x",
                        "fieldPath": CANARY,
                    }
                },
                {"controller": {**controller, "namespace": "shop"}, "labelSelector": _SELECTOR},
            ],
            "ttl": "1h",
            "expires": "2026-02-01T00:00:00Z",
            "preAllocation": True,
            "preAllocationPolicy": {"mode": CANARY},
            "allocateOnce": False,
            "allocatePolicy": "Restricted",
            "unschedulable": True,
            "taints": [{"key": "team", "value": "red", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}],
        },
        "status": {
            "phase": "Available",
            "nodeName": "a",
            "conditions": [
                {
                    **_CONDITION,
                    "type": "Ready",
                    "status": "True",
                    "reason": "Available",
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                }
            ],
            "allocatable": {"cpu": "4"},
            "allocated": {"cpu": "1"},
            "currentOwners": [{"namespace": "shop", "name": "x-1", "uid": "uid-x-1", "resourceVersion": CANARY}],
        },
    }


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
        "Namespace": {"spec": {"finalizers": [CANARY]}, "status": {"phase": "Terminating", "conditions": [_CONDITION]}},
        "ControllerRevision": _revision(),
        "PriorityClass": {"value": 5, "globalDefault": True, "description": CANARY, "preemptionPolicy": "Never"},
        "PodDisruptionBudget": {
            "spec": {
                "minAvailable": 2,
                "selector": _SELECTOR,
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
        "Reservation": _reservation(),
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
            "status": {"used": {"cpu": "1"}, "message": CANARY, "conditions": [_CONDITION]},
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
                "conditions": [_CONDITION],
            },
        },
        "PodGroup.scheduling.k8s.io": {
            "spec": {
                "schedulingPolicy": {"gang": {"minCount": 3}},
                "disruptionMode": {"all": {"x": CANARY}},
                "workloadRef": {"workloadName": CANARY, "templateName": CANARY},
                "priorityClassName": CANARY,
            },
            "status": {"conditions": [_CONDITION]},
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
        "Device": _device(),
        **device_objects(),
        "NodeMetric": _node_metric(),
        "NodeResourceTopology": _node_topology(),
        "NodeMetrics": {"timestamp": CANARY, "window": CANARY, "usage": {"cpu": "1"}},
        "PodMetrics": {"timestamp": CANARY, "window": CANARY, "containers": [{"name": CANARY, "usage": {"cpu": "1"}}]},
    }


def _node_metric() -> Object:
    usage = {"resources": {"cpu": "1"}}
    return {
        "spec": {"metricCollectPolicy": {"reportIntervalSeconds": 60, "notes": CANARY}},
        "status": {
            "updateTime": "2026-06-30T12:00:00Z",
            "nodeMetric": {
                "nodeUsage": usage,
                "systemUsage": usage,
                "aggregatedNodeUsages": [
                    {"duration": "5m", "usage": dict.fromkeys(("avg", "p50", "p90", "p95", "p99"), usage)}
                ],
                "notes": CANARY,
            },
            "podsMetric": [
                {
                    "namespace": "x",
                    "name": "y",
                    "priority": "koord-prod",
                    "qos": "LS",
                    "podUsage": usage,
                    "extensions": CANARY,
                }
            ],
            "prodReclaimableMetric": {"resource": usage},
            "hostApplicationMetric": [{"name": CANARY, "usage": usage}],
            "conditions": [_CONDITION],
        },
    }


def _node_topology() -> Object:
    read = {
        "node.koordinator.sh/cpu-topology": '{"detail":[{"id":0,"core":0,"socket":0,"node":0}]}',
        "node.koordinator.sh/pod-cpu-allocs": '[{"uid":"uid-x","cpuset":"3","managedByKubelet":true}]',
        "node.koordinator.sh/reservation": '{"reservedCPUs":"0"}',
        "node.koordinator.sh/system-qos-resource": '{"cpuset":"1"}',
        "kubelet.koordinator.sh/cpu-manager-policy": '{"policy":"static","reservedCPUs":"2"}',
    }
    resource = {"name": "cpu", **dict.fromkeys(("capacity", "allocatable", "available"), "1")}
    return {
        "metadata": full_metadata("x", annotations=IDLE_ANNOTATIONS | read),
        "topologyPolicies": ["BestEffort"],
        "zones": [
            {
                "name": "node-0",
                "type": "Node",
                "parent": CANARY,
                "costs": [{"name": CANARY, "value": 10}],
                "attributes": [{"name": CANARY, "value": CANARY}],
                "resources": [resource],
            }
        ],
        "attributes": [{"name": CANARY, "value": CANARY}],
    }


def _storage_objects() -> dict[str, Object]:
    on_claims = {
        "pv.kubernetes.io/bind-completed": "yes",
        "volume.kubernetes.io/selected-node": "a",
        "volume.beta.kubernetes.io/storage-class": "slow",
        "volume.kubernetes.io/storage-provisioner": CANARY,
    }
    zones = [{"key": "zone", "operator": "In", "values": ["a"]}]
    terms = [{"matchExpressions": zones, "matchFields": [zones[0] | {"key": "metadata.name"}]}]
    volume_handle = {"driver": "d", "volumeHandle": "handle", "fsType": CANARY}
    return {
        "PersistentVolumeClaim": {
            "metadata": full_metadata("x", annotations=IDLE_ANNOTATIONS | on_claims),
            "spec": full_claim_spec(),
            "status": {"phase": "Bound", "conditions": [_CONDITION], "currentVolumeAttributesClassName": CANARY},
        },
        "PersistentVolume": {
            "metadata": full_metadata("x", annotations=IDLE_ANNOTATIONS),
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "claimRef": {"namespace": "shop", "name": "x", "uid": "uid-x", "resourceVersion": CANARY},
                "persistentVolumeReclaimPolicy": CANARY,
                "storageClassName": "fast",
                "mountOptions": [f"password={CANARY}"],
                "volumeMode": "Block",
                "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
                "volumeAttributesClassName": "gold",
                "csi": volume_handle
                | {
                    "volumeAttributes": {"key": CANARY},
                    "controllerPublishSecretRef": _SECRET_REF,
                    "nodeStageSecretRef": _SECRET_REF,
                    "nodePublishSecretRef": _SECRET_REF,
                    "controllerExpandSecretRef": _SECRET_REF,
                    "nodeExpandSecretRef": _SECRET_REF,
                },
                "gcePersistentDisk": {"pdName": "disk", "fsType": CANARY},
                "awsElasticBlockStore": {"volumeID": "vol-1", "fsType": CANARY},
                "azureDisk": {"diskName": CANARY, "diskURI": "/subscriptions/1", "kind": "Managed"},
                "cinder": {"volumeID": "vol-2", "secretRef": _SECRET_REF},
                "portworxVolume": {"volumeID": "vol-3", "fsType": CANARY},
                "azureFile": {"secretName": CANARY, "shareName": CANARY, "secretNamespace": CANARY},
                "cephfs": {"monitors": [CANARY], "user": CANARY, "secretRef": _SECRET_REF},
                "flexVolume": {"driver": CANARY, "options": {"password": CANARY}, "secretRef": _SECRET_REF},
                "glusterfs": {"endpoints": CANARY, "path": CANARY, "endpointsNamespace": CANARY},
                "iscsi": {"targetPortal": CANARY, "iqn": CANARY, "secretRef": _SECRET_REF},
                "rbd": {"monitors": [CANARY], "user": CANARY, "keyring": CANARY, "secretRef": _SECRET_REF},
                "nfs": {"server": CANARY, "path": CANARY},
                "hostPath": {"path": CANARY},
                "local": {"path": CANARY},
            },
            "status": {"phase": "Bound", "message": CANARY, "reason": CANARY},
        },
        "StorageClass": {
            "metadata": full_metadata("x", annotations={"storageclass.kubernetes.io/is-default-class": "true"}),
            "provisioner": "d",
            "parameters": {"csi.storage.k8s.io/provisioner-secret-name": CANARY, "password": CANARY},
            "reclaimPolicy": CANARY,
            "mountOptions": [f"password={CANARY}"],
            "volumeBindingMode": "WaitForFirstConsumer",
            "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}],
        },
        "CSINode": {
            "metadata": full_metadata(
                "x", annotations={"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}
            ),
            "spec": {
                "drivers": [{"name": "d", "nodeID": CANARY, "topologyKeys": [CANARY], "allocatable": {"count": 3}}],
            },
        },
        "CSIDriver": {
            "spec": {
                "storageCapacity": True,
                "preventPodSchedulingIfMissing": True,
                "fsGroupPolicy": CANARY,
                "tokenRequests": [{"audience": CANARY}],
            },
        },
        "CSIStorageCapacity": {
            "nodeTopology": _SELECTOR,
            "storageClassName": "fast",
            "capacity": "4Gi",
            "maximumVolumeSize": "2Gi",
        },
        "VolumeAttachment": {
            "spec": {
                "attacher": "d",
                "source": {
                    "persistentVolumeName": "x",
                    "inlineVolumeSpec": {
                        "csi": volume_handle | {"volumeAttributes": {"key": CANARY}},
                        "mountOptions": [f"password={CANARY}"],
                    },
                },
                "nodeName": "a",
            },
            "status": {
                "attached": False,
                "attachmentMetadata": {"path": CANARY},
                "attachError": {"message": CANARY},
                "detachError": {"message": CANARY},
            },
        },
    }

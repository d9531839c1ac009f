"""An object of each kind that a run reads, with a value in every field that some rule reads of it."""

from __future__ import annotations

from collections.abc import Mapping

from tests.builders import Object, ago
from tests.cluster.dumps.full_devices import device_objects
from tests.worlds.sampled_pods import (
    AMOUNTS,
    ANNOTATIONS,
    CONDITION,
    CONTAINER_STATUS,
    DOMAIN,
    OWNER,
    POD_SPEC,
    SELECTOR,
    TEMPLATE,
    TERM,
)

_KOORDINATOR = "scheduling.koordinator.sh/v1alpha1"
_Q = "quota.scheduling.koordinator.sh/"


def _sample(api_version: str, kind: str, *, namespace: str = "odd", **parts: object) -> Object:
    metadata = {
        "name": "odd",
        "uid": "odd",
        "creationTimestamp": ago(600),
        "generation": 1,
        "resourceVersion": "5",
        "labels": {"app": "odd", "a": "b", f"{_Q}name": "odd", "pod-group.scheduling.sigs.k8s.io": "odd"},
        "annotations": dict(ANNOTATIONS),
        "ownerReferences": [OWNER],
    }
    metadata |= {"namespace": namespace} if namespace else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts}


def _workload(api_version: str, kind: str, **more: object) -> Object:
    claims = [{"metadata": {"name": "a"}, "spec": {"storageClassName": "odd", "accessModes": ["ReadWriteOnce"]}}]
    spec = {"replicas": 3, "selector": SELECTOR, "template": TEMPLATE, "volumeClaimTemplates": claims}
    return _sample(api_version, kind, spec={**spec, "podManagementPolicy": "Parallel", **more})


_RESERVATION_SPEC: Object = {
    "template": TEMPLATE,
    "owners": [
        {"object": {"namespace": "odd", "name": "odd", "uid": "odd", "apiVersion": "v1"}},
        {"controller": {**OWNER, "namespace": "odd"}},
        {"labelSelector": SELECTOR},
    ],
    "ttl": "1h",
    "expires": ago(-3600),
    "allocateOnce": True,
    "allocatePolicy": "Restricted",
    "preAllocation": False,
    "unschedulable": False,
    "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}],
}
_DEVICES = [
    {
        "type": "gpu",
        "minor": 0,
        "id": "g",
        "health": True,
        "labels": {"a": "b"},
        "resources": {"koordinator.sh/gpu-core": "100"},
        "topology": {"nodeID": 0, "pcieID": "0"},
        "vfGroups": [{"labels": {"a": "b"}, "vfs": [{"minor": 0, "busID": "0"}]}],
    }
]
_CPUS = '{"detail": [{"id": 0, "core": 0, "socket": 0, "node": 0}]}'
_USAGE = {"resources": {"cpu": "100m", "memory": "1Mi"}}
_OBJECTS: tuple[Object, ...] = (
    _sample(
        "v1",
        "Node",
        namespace="",
        spec={"unschedulable": True, "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]},
        status={
            "allocatable": {"cpu": "8", "pods": "110", "memory": "16Gi"},
            "capacity": {"cpu": "8", "pods": "110", "memory": "16Gi"},
            "conditions": [CONDITION],
            "images": [{"names": ["app:1"], "sizeBytes": 5}],
            "declaredFeatures": ["f"],
        },
    ),
    _sample(
        "v1",
        "Pod",
        spec=POD_SPEC,
        status={
            "phase": "Running",
            "reason": "r",
            "startTime": ago(500),
            "qosClass": "Burstable",
            "nominatedNodeName": "free",
            "conditions": [CONDITION, {**CONDITION, "type": "PodScheduled"}],
            "containerStatuses": [CONTAINER_STATUS],
            "initContainerStatuses": [{**CONTAINER_STATUS, "name": "i"}],
            "ephemeralContainerStatuses": [{**CONTAINER_STATUS, "name": "e"}],
            "resources": {"requests": AMOUNTS},
            "allocatedResources": AMOUNTS,
        },
    ),
    _sample("v1", "Namespace", namespace=""),
    _sample(
        "v1",
        "PersistentVolumeClaim",
        spec={
            "storageClassName": "odd",
            "volumeName": "odd",
            "volumeMode": "Filesystem",
            "accessModes": ["ReadWriteOnce"],
            "selector": SELECTOR,
            "resources": {"requests": {"storage": "1Gi"}},
        },
        status={"phase": "Bound"},
    ),
    _sample("scheduling.k8s.io/v1", "PriorityClass", namespace="", value=100, preemptionPolicy="Never"),
    _sample(
        "policy/v1",
        "PodDisruptionBudget",
        spec={"selector": SELECTOR, "minAvailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"},
        status={"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2},
    ),
    _workload("apps/v1", "ReplicaSet"),
    _workload("apps/v1", "Deployment"),
    _workload(
        "apps/v1",
        "StatefulSet",
        minReadySeconds=5,
        ordinals={"start": 1},
        updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1, "maxUnavailable": 1}},
    )
    | {"status": {"observedGeneration": 1, "currentRevision": "odd-1", "updateRevision": "odd-2"}},
    _workload("apps/v1", "DaemonSet", updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "10%"}}),
    _sample("apps/v1", "ControllerRevision", revision=2, data={"spec": {"template": TEMPLATE}}),
    _workload("v1", "ReplicationController", selector={"app": "odd"}),
    _workload(
        "batch/v1",
        "Job",
        parallelism=2,
        completions=3,
        completionMode="Indexed",
        backoffLimitPerIndex=1,
        maxFailedIndexes=1,
        activeDeadlineSeconds=600,
        podReplacementPolicy="Failed",
        successPolicy={"rules": [{"succeededIndexes": "0-1", "succeededCount": 1}]},
        podFailurePolicy={
            "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
        },
    )
    | {
        "status": {
            "active": 2,
            "failed": 1,
            "succeeded": 1,
            "failedIndexes": "1",
            "completedIndexes": "0",
            "startTime": ago(60),
            "conditions": [{"type": "Suspended", "status": "False"}],
        }
    },
    _workload("apps.kruise.io/v1alpha1", "CloneSet"),
    _sample("v1", "Service", spec={"selector": {"app": "odd"}}),
    _sample(
        "v1",
        "PersistentVolume",
        namespace="",
        spec={
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "nodeAffinity": {"required": {"nodeSelectorTerms": [TERM]}},
            "storageClassName": "odd",
            "volumeMode": "Filesystem",
            "claimRef": {"namespace": "odd", "name": "odd", "uid": "odd"},
            "csi": {"driver": "d", "volumeHandle": "h"},
            "gcePersistentDisk": {"pdName": "p"},
        },
        status={"phase": "Bound"},
    ),
    _sample(
        "storage.k8s.io/v1",
        "StorageClass",
        namespace="",
        provisioner="d",
        volumeBindingMode="WaitForFirstConsumer",
        allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}],
    ),
    _sample(
        "storage.k8s.io/v1", "CSINode", namespace="", spec={"drivers": [{"name": "d", "allocatable": {"count": 5}}]}
    ),
    _sample("storage.k8s.io/v1", "CSIDriver", namespace="", spec={"storageCapacity": True}),
    _sample(
        "storage.k8s.io/v1",
        "CSIStorageCapacity",
        storageClassName="odd",
        nodeTopology=SELECTOR,
        capacity="1Gi",
        maximumVolumeSize="1Gi",
    ),
    _sample(
        "storage.k8s.io/v1",
        "VolumeAttachment",
        namespace="",
        spec={"attacher": "d", "nodeName": "free", "source": {"persistentVolumeName": "odd"}},
    ),
    _sample(
        "node.k8s.io/v1",
        "RuntimeClass",
        namespace="",
        overhead={"podFixed": {"cpu": "10m"}},
        scheduling={"nodeSelector": {"zone": "a"}, "tolerations": [{"key": "k", "operator": "Exists"}]},
    ),
    _sample(
        "v1",
        "LimitRange",
        spec={"limits": [{"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}}]},
    ),
    _sample(
        "v1",
        "ResourceQuota",
        spec={"hard": {"pods": "5"}},
        status={"hard": {"pods": "5", "requests.cpu": "5"}, "used": {"pods": "1"}},
    ),
    _sample(
        _KOORDINATOR,
        "PodMigrationJob",
        namespace="",
        spec={
            "podRef": {"namespace": "odd", "name": "odd", "uid": "odd"},
            "ttl": "5m",
            "mode": "EvictDirectly",
            "paused": False,
            "deleteOptions": {"gracePeriodSeconds": 5},
            "reservationOptions": {"reservationRef": {"name": "odd"}, "template": {"spec": {"ttl": "5m"}}},
        },
        status={
            "phase": "Failed",
            "status": "Eviction",
            "reason": "r",
            "message": "m",
            "nodeName": "free",
            "podRef": {"namespace": "odd", "name": "odd", "uid": "odd"},
            "conditions": [{**CONDITION, "lastProbeTime": ago(90)}],
        },
    ),
    _sample("metrics.k8s.io/v1beta1", "NodeMetrics", namespace="", usage={"cpu": "100m", "memory": "1Mi"}),
    _sample("metrics.k8s.io/v1beta1", "PodMetrics", containers=[{"name": "c", "usage": {"cpu": "10m"}}]),
    _sample(
        "slo.koordinator.sh/v1alpha1",
        "NodeMetric",
        namespace="",
        status={
            "updateTime": ago(30),
            "nodeMetric": {"nodeUsage": _USAGE, "systemUsage": _USAGE},
            "podsMetric": [{"namespace": "odd", "name": "odd", "podUsage": _USAGE}],
        },
    ),
    _sample("topology.node.k8s.io/v1alpha1", "NodeResourceTopology", namespace="", topologyPolicies=["Restricted"]),
    _sample(
        _KOORDINATOR,
        "Reservation",
        namespace="",
        spec=_RESERVATION_SPEC,
        status={
            "phase": "Available",
            "nodeName": "free",
            "allocatable": {"cpu": "1"},
            "allocated": {"cpu": "1"},
            "currentOwners": [{"namespace": "odd", "name": "odd", "uid": "odd"}],
            "conditions": [CONDITION],
        },
    ),
    _sample(_KOORDINATOR, "Device", namespace="", spec={"devices": _DEVICES}),
    _sample(
        "scheduling.sigs.k8s.io/v1alpha1",
        "ElasticQuota",
        spec={"min": {"cpu": "1"}, "max": {"cpu": "4", "memory": "1Gi"}},
    ),
    _sample("scheduling.sigs.k8s.io/v1alpha1", "PodGroup", spec={"minMember": 1, "scheduleTimeoutSeconds": 30}),
    _sample(
        "scheduling.volcano.sh/v1beta1",
        "Queue",
        namespace="",
        spec={"weight": 1, "capability": {"cpu": "4"}, "reclaimable": True},
        status={"state": "Open"},
    ),
)
_MORE_ANNOTATIONS: Mapping[str, Mapping[str, str]] = {
    "Node": {"node.koordinator.sh/reservation": '{"resources": {"cpu": "1"}, "reservedCPUs": "0"}'},
    "NodeResourceTopology": {
        "node.koordinator.sh/cpu-topology": _CPUS,
        "node.koordinator.sh/pod-cpu-allocs": '[{"uid": "odd", "cpuset": "0", "managedByKubelet": true}]',
        "kubelet.koordinator.sh/cpu-manager-policy": '{"policy": "static", "reservedCPUs": "0"}',
        "node.koordinator.sh/system-qos-resource": '{"cpuset": "0", "cpusetExclusive": true}',
    },
    "Reservation": {f"{DOMAIN}reservation-restricted-options": '{"resources": ["cpu"]}'},
    "Device": {f"{DOMAIN}gpu-partitions": '{"1": [{"minors": [0], "allocationScore": 1}]}'},
    "ElasticQuota": {f"{_Q}shared-weight": '{"cpu": "1"}', f"{_Q}namespaces": '["odd"]'},
    "CSINode": {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"},
}
_OF_NAMESPACES = ("ResourceClaim", "ResourceClaimTemplate")
_DEVICE_OBJECTS = [
    _sample(
        "resource.k8s.io/v1",
        kind,
        namespace="odd" if kind in _OF_NAMESPACES else "",
        **{key: each for key, each in fields.items() if key != "metadata"},
    )
    for kind, fields in device_objects().items()
]
SAMPLES: Mapping[str, Object] = {each["kind"]: each for each in (*_OBJECTS, *_DEVICE_OBJECTS)}
"""Kind → the object, `odd` by name and namespace, which nothing else refers to."""

for _kind, _more in _MORE_ANNOTATIONS.items():
    SAMPLES[_kind]["metadata"]["annotations"].update(_more)

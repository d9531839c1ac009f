"""Which fields of which kind a dump keeps: those that some rule reads, and those that say which object it is.

Tests compare this table with what the decoders read, so a field that a rule begins to read must be added here. Kinds
that only dumps hold (`dump_kinds`) keep what their schedulers compute with: amounts, states and names.
"""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.cluster.dumps.pod_fields import (
    CLAIM_SPEC,
    CLAIM_TEMPLATE,
    METADATA,
    NODE_SELECTOR,
    POD_SPEC,
    POD_STATUS,
    POD_TEMPLATE,
    SELECTOR,
    TOLERATIONS,
)
from descheduler.cluster.dumps.shapes import Fields, Leaf, scalars

__all__ = ["FIELDS"]


def _object(**fields: Fields | Leaf) -> Fields:
    """An object of the API with these fields beside its metadata."""
    return {**scalars("kind", "apiVersion"), "metadata": METADATA, **fields}


def _workload(selector: Fields | Leaf = SELECTOR) -> Fields:
    """A controller of pods."""
    spec: Fields = {
        **scalars("replicas", "parallelism", "podManagementPolicy", "podReplacementPolicy"),
        "selector": selector,
        "template": POD_TEMPLATE,
        "volumeClaimTemplates": CLAIM_TEMPLATE,
    }
    return _object(spec=spec)


_READ: dict[str, Fields] = {
    "Node": _object(
        spec={"unschedulable": Leaf.SCALAR, "taints": scalars("key", "value", "effect")},
        status={
            "capacity": Leaf.MAP,
            "allocatable": Leaf.MAP,
            "conditions": scalars("type", "status"),
            "images": scalars("names", "sizeBytes"),
            "declaredFeatures": Leaf.SCALAR,
        },
    ),
    "Pod": _object(spec=POD_SPEC, status=POD_STATUS),
    "Namespace": _object(),
    "PersistentVolumeClaim": _object(spec=CLAIM_SPEC, status=scalars("phase")),
    "PriorityClass": _object(**scalars("value", "globalDefault", "preemptionPolicy")),
    "PodDisruptionBudget": _object(
        spec={"selector": SELECTOR, "unhealthyPodEvictionPolicy": Leaf.SCALAR},
        status=scalars("observedGeneration", "disruptionsAllowed", "currentHealthy", "desiredHealthy"),
    ),
    **dict.fromkeys(("ReplicaSet", "Deployment", "StatefulSet", "Job", "CloneSet"), _workload()),
    "ReplicationController": _workload(Leaf.MAP),
    "Service": _object(spec={"selector": Leaf.MAP}),
    "PersistentVolume": _object(
        spec={
            **scalars("accessModes", "storageClassName", "volumeMode", "volumeAttributesClassName"),
            "capacity": Leaf.MAP,
            "nodeAffinity": {"required": NODE_SELECTOR},
            "claimRef": scalars("namespace", "name", "uid"),
            "csi": {"driver": Leaf.SCALAR, "volumeHandle": Leaf.HANDLE},
            "gcePersistentDisk": scalars("pdName"),
            "awsElasticBlockStore": {"volumeID": Leaf.HANDLE},
            "azureDisk": {"diskURI": Leaf.HANDLE, "kind": Leaf.SCALAR},
            "cinder": {"volumeID": Leaf.HANDLE},
            "portworxVolume": {"volumeID": Leaf.HANDLE},
        },
        status=scalars("phase"),
    ),
    "StorageClass": _object(
        provisioner=Leaf.SCALAR,
        volumeBindingMode=Leaf.SCALAR,
        allowedTopologies={"matchLabelExpressions": scalars("key", "values")},
    ),
    "CSINode": _object(spec={"drivers": {"name": Leaf.SCALAR, "allocatable": scalars("count")}}),
    "CSIDriver": _object(spec=scalars("storageCapacity")),
    "CSIStorageCapacity": _object(
        **scalars("storageClassName", "capacity", "maximumVolumeSize"),
        nodeTopology=SELECTOR,
    ),
    "VolumeAttachment": _object(
        spec={
            **scalars("attacher", "nodeName"),
            "source": {
                "persistentVolumeName": Leaf.SCALAR,
                "inlineVolumeSpec": {"csi": {"driver": Leaf.SCALAR, "volumeHandle": Leaf.HANDLE}},
            },
        }
    ),
    "RuntimeClass": _object(
        overhead={"podFixed": Leaf.MAP}, scheduling={"nodeSelector": Leaf.MAP, "tolerations": TOLERATIONS}
    ),
    "LimitRange": _object(spec={"limits": {"type": Leaf.SCALAR, "default": Leaf.MAP, "defaultRequest": Leaf.MAP}}),
    "ResourceQuota": _object(spec={"hard": Leaf.MAP}, status={"hard": Leaf.MAP, "used": Leaf.MAP}),
    "PodMigrationJob": _object(spec={"podRef": scalars("namespace", "name", "uid")}, status=scalars("phase")),
    "NodeMetrics": _object(usage=Leaf.MAP),
    "PodMetrics": _object(containers={"usage": Leaf.MAP}),
}

_USAGE: Fields = {"resources": Leaf.MAP}
_ONLY_DUMPED: dict[str, Fields] = {
    "DaemonSet": _object(spec={"selector": SELECTOR, "template": POD_TEMPLATE}),
    "ResourceClaim": _object(
        status={
            "allocation": {
                "nodeSelector": NODE_SELECTOR,
                "devices": {"results": scalars("request", "driver", "pool", "device")},
            },
            "reservedFor": scalars("apiGroup", "resource", "name", "uid"),
        }
    ),
    "Reservation": _object(
        spec={
            **scalars("ttl", "expires", "preAllocation", "allocateOnce", "allocatePolicy", "unschedulable"),
            "template": POD_TEMPLATE,
            "owners": {
                "object": scalars("apiVersion", "kind", "namespace", "name", "uid"),
                "controller": scalars("apiVersion", "kind", "namespace", "name", "uid", "controller"),
                "labelSelector": SELECTOR,
            },
            "taints": scalars("key", "value", "effect"),
        },
        status={
            **scalars("phase", "nodeName"),
            "conditions": scalars("type", "status", "reason", "lastTransitionTime"),
            "allocatable": Leaf.MAP,
            "allocated": Leaf.MAP,
            "currentOwners": scalars("namespace", "name", "uid"),
        },
    ),
    "Device": _object(
        spec={
            "devices": {
                **scalars("type", "id", "minor", "moduleID", "health"),
                "labels": Leaf.MAP,
                "resources": Leaf.MAP,
                "topology": scalars("socketID", "nodeID", "pcieID", "busID"),
                "vfGroups": {"labels": Leaf.MAP, "vfs": scalars("minor", "busID")},
            }
        },
        status={"allocations": {"type": Leaf.SCALAR, "entries": scalars("namespace", "name", "uuid", "minors")}},
    ),
    "NodeMetric": _object(
        status={
            "updateTime": Leaf.SCALAR,
            "nodeMetric": {
                "nodeUsage": _USAGE,
                "systemUsage": _USAGE,
                "aggregatedNodeUsages": {
                    "duration": Leaf.SCALAR,
                    "usage": dict.fromkeys(("avg", "p50", "p90", "p95", "p99"), _USAGE),
                },
            },
            "podsMetric": {**scalars("namespace", "name", "priority", "qosClass"), "podUsage": _USAGE},
            "prodReclaimableMetric": {"resource": _USAGE},
        }
    ),
    "ElasticQuota": _object(spec={"min": Leaf.MAP, "max": Leaf.MAP}, status={"used": Leaf.MAP}),
    "PodGroup": _object(
        spec={
            **scalars("minMember", "queue", "priorityClassName", "scheduleTimeoutSeconds"),
            "minResources": Leaf.MAP,
            "minTaskMember": Leaf.MAP,
        },
        status=scalars("phase", "scheduled", "running", "succeeded", "failed", "occupiedBy", "scheduleStartTime"),
    ),
    "Queue": _object(
        spec={
            **scalars("weight", "parent", "reclaimable", "priority", "type"),
            "capability": Leaf.MAP,
            "deserved": Leaf.MAP,
            "guarantee": {"resource": Leaf.MAP},
        },
        status={"state": Leaf.SCALAR, "allocated": Leaf.MAP},
    ),
}

FIELDS: Mapping[str, Fields] = {**_READ, **_ONLY_DUMPED}
"""Kind → its fields; both kinds named PodGroup share theirs."""

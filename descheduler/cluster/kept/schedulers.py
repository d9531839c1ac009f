"""What a dump keeps of objects of Koordinator, Volcano and scheduler-plugins: what their schedulers compute with."""

from __future__ import annotations

from descheduler.cluster.kept.shapes import POD_SPEC, SELECTOR, Fields, Leaf, an_object, scalars

MIGRATION_JOB = an_object(
    spec={
        **scalars("paused", "ttl", "mode"),
        "podRef": scalars("namespace", "name", "uid"),
        "reservationOptions": {"reservationRef": scalars("name")},
    },
    status={
        **scalars("phase", "status", "reason", "nodeName"),
        "conditions": scalars("type", "status", "reason", "lastTransitionTime"),
        "podRef": scalars("namespace", "name", "uid"),
    },
)
RESERVATION = an_object(
    spec={
        **scalars("ttl", "expires", "preAllocation", "allocateOnce", "allocatePolicy", "unschedulable"),
        "template": {
            "metadata": {"namespace": Leaf.SCALAR, "labels": Leaf.MAP, "annotations": Leaf.ANNOTATIONS},
            "spec": POD_SPEC,
        },
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
)
DEVICE = an_object(
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
)

_USAGE: Fields = {"resources": Leaf.MAP}
NODE_METRIC = an_object(
    spec={"metricCollectPolicy": scalars("reportIntervalSeconds")},
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
        "podsMetric": {**scalars("namespace", "name", "priority", "qos"), "podUsage": _USAGE},
        "prodReclaimableMetric": {"resource": _USAGE},
    },
)
NODE_TOPOLOGY = an_object(
    topologyPolicies=Leaf.SCALAR,
    zones={**scalars("name", "type"), "resources": scalars("name", "capacity", "allocatable", "available")},
)
ELASTIC_QUOTA = an_object(spec={"min": Leaf.MAP, "max": Leaf.MAP}, status={"used": Leaf.MAP})
POD_GROUP = an_object(
    spec={
        **scalars("minMember", "queue", "priorityClassName", "scheduleTimeoutSeconds"),
        "minResources": Leaf.MAP,
        "minTaskMember": Leaf.MAP,
    },
    status=scalars("phase", "scheduled", "running", "succeeded", "failed", "occupiedBy", "scheduleStartTime"),
)
"""Of Koordinator, of scheduler-plugins and of Volcano: these kinds share it."""
KUBERNETES_POD_GROUP = an_object(
    spec={"schedulingPolicy": {"gang": scalars("minCount")}, "disruptionMode": {"all": {}}}
)
_POLICIES = scalars("action", "event", "events")
VOLCANO_JOB = an_object(
    spec={
        **scalars("maxRetry"),
        "policies": _POLICIES,
        "tasks": {**scalars("name", "replicas"), "policies": _POLICIES},
    },
    status={**scalars("retryCount"), "state": scalars("phase")},
)
_NODE_GROUPS = scalars(
    "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
)
QUEUE = an_object(
    spec={
        **scalars("weight", "parent", "reclaimable", "priority", "type"),
        "capability": Leaf.MAP,
        "deserved": Leaf.MAP,
        "guarantee": {"resource": Leaf.MAP},
        "affinity": {
            "nodeGroupAffinity": _NODE_GROUPS,
            "nodeGroupAntiAffinity": _NODE_GROUPS,
        },
    },
    status={"state": Leaf.SCALAR, "allocated": Leaf.MAP},
)

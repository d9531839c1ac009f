"""What a dump keeps of objects of Kubernetes itself; tests compare it with what the decoders read."""

from __future__ import annotations

from descheduler.cluster.kept.shapes import (
    CLAIM_SPEC,
    CLAIM_TEMPLATE,
    NODE_SELECTOR,
    POD_SPEC,
    POD_STATUS,
    POD_TEMPLATE,
    SELECTOR,
    TOLERATIONS,
    ByName,
    Fields,
    Leaf,
    an_object,
    scalars,
)

NODE = an_object(
    spec={"unschedulable": Leaf.SCALAR, "taints": scalars("key", "value", "effect")},
    status={
        "capacity": Leaf.MAP,
        "allocatable": Leaf.MAP,
        "conditions": scalars("type", "status"),
        "images": scalars("names", "sizeBytes"),
        "declaredFeatures": Leaf.SCALAR,
    },
)
POD = an_object(spec=POD_SPEC, status=POD_STATUS)
PRIORITY_CLASS = an_object(**scalars("value", "preemptionPolicy", "globalDefault"))
BUDGET = an_object(
    spec={**scalars("minAvailable", "maxUnavailable", "unhealthyPodEvictionPolicy"), "selector": SELECTOR},
    status={
        **scalars("observedGeneration", "disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"),
        "disruptedPods": Leaf.MAP,
        "conditions": scalars("type", "status", "reason", "message"),
    },
)

_REPLICAS: Fields = {"replicas": Leaf.SCALAR, "template": POD_TEMPLATE}
_OBSERVED = scalars("observedGeneration")
_ROLLING_UPDATE: Fields = {"updateStrategy": {"type": Leaf.SCALAR, "rollingUpdate": scalars("partition", "maxSurge")}}
WORKLOAD = an_object(spec={**_REPLICAS, "selector": SELECTOR}, status=_OBSERVED)
"""A controller of pods without fields of its own."""
REPLICATION_CONTROLLER = an_object(spec={**_REPLICAS, "selector": Leaf.MAP}, status=_OBSERVED)
STATEFUL_SET = an_object(
    spec={
        **_REPLICAS,
        **_ROLLING_UPDATE,
        "selector": SELECTOR,
        **scalars("podManagementPolicy", "minReadySeconds"),
        "ordinals": scalars("start"),
        "volumeClaimTemplates": CLAIM_TEMPLATE,
    },
    status={**_OBSERVED, **scalars("currentRevision", "updateRevision")},
)
DAEMON_SET = an_object(
    spec={**_ROLLING_UPDATE, "selector": SELECTOR, "template": POD_TEMPLATE},
    status=_OBSERVED,
)
JOB = an_object(
    spec={
        **scalars("parallelism", "completions", "completionMode", "suspend", "managedBy", "podReplacementPolicy"),
        **scalars("backoffLimit", "backoffLimitPerIndex", "maxFailedIndexes", "activeDeadlineSeconds"),
        "podFailurePolicy": {
            "rules": {
                "action": Leaf.SCALAR,
                "onExitCodes": scalars("operator", "values"),
                "onPodConditions": scalars("type", "status"),
            }
        },
        "selector": SELECTOR,
        "template": POD_TEMPLATE,
    },
    status={
        **_OBSERVED,
        **scalars("startTime", "succeeded", "failed", "completedIndexes", "failedIndexes"),
        "uncountedTerminatedPods": scalars("failed"),
        "conditions": scalars("type", "status"),
    },
)
CONTROLLER_REVISION = an_object(revision=Leaf.SCALAR, data={"spec": {"template": POD_TEMPLATE}})

SERVICE = an_object(spec={"selector": Leaf.MAP})
RUNTIME_CLASS = an_object(
    overhead={"podFixed": Leaf.MAP}, scheduling={"nodeSelector": Leaf.MAP, "tolerations": TOLERATIONS}
)
LIMIT_RANGE = an_object(
    spec={
        "limits": {
            "type": Leaf.SCALAR,
            **dict.fromkeys(("default", "defaultRequest", "min", "max", "maxLimitRequestRatio"), Leaf.MAP),
        }
    }
)
NAMESPACE = an_object(status=scalars("phase"))
QUOTA = an_object(
    spec={
        "hard": Leaf.MAP,
        "scopes": Leaf.SCALAR,
        "scopeSelector": {"matchExpressions": scalars("scopeName", "operator", "values")},
    },
    status={"hard": Leaf.MAP, "used": Leaf.MAP},
)

CLAIM = an_object(spec=CLAIM_SPEC, status=scalars("phase"))
VOLUME = an_object(
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
)
STORAGE_CLASS = an_object(
    **scalars("provisioner", "volumeBindingMode"),
    allowedTopologies={"matchLabelExpressions": scalars("key", "values")},
)
CSI_NODE = an_object(spec={"drivers": {"name": Leaf.SCALAR, "allocatable": scalars("count")}})
CSI_DRIVER = an_object(spec=scalars("storageCapacity", "preventPodSchedulingIfMissing"))
STORAGE_CAPACITY = an_object(**scalars("storageClassName", "capacity", "maximumVolumeSize"), nodeTopology=SELECTOR)
ATTACHMENT = an_object(
    spec={
        **scalars("attacher", "nodeName"),
        "source": {
            "persistentVolumeName": Leaf.SCALAR,
            "inlineVolumeSpec": {"csi": {"driver": Leaf.SCALAR, "volumeHandle": Leaf.HANDLE}},
        },
    }
)
_EXPRESSIONS: Fields = {"cel": scalars("expression")}
_TAINT = scalars("key", "value", "effect", "timeAdded")
_REQUESTED: Fields = {
    **scalars("deviceClassName", "allocationMode", "count", "adminAccess"),
    "selectors": _EXPRESSIONS,
    "tolerations": TOLERATIONS,
    "capacity": {"requests": Leaf.MAP},
}
_NAMED: Fields = {"name": Leaf.SCALAR, **_REQUESTED}
_CLAIM_SPEC: Fields = {
    "devices": {
        "requests": {**_NAMED, "exactly": _REQUESTED, "firstAvailable": _NAMED},
        "constraints": scalars("requests", "matchAttribute", "distinctAttribute"),
    }
}
"""What drivers alone read, such as opaque parameters, is in no dump."""
_DEVICE_ID = scalars("driver", "pool", "device")
RESOURCE_CLAIM = an_object(
    spec=_CLAIM_SPEC,
    status={
        "allocation": {
            "nodeSelector": NODE_SELECTOR,
            "allocationTimestamp": Leaf.SCALAR,
            "devices": {
                "results": {
                    **_DEVICE_ID,
                    **scalars("request", "adminAccess", "bindingConditions", "bindingFailureConditions", "shareID"),
                    "tolerations": TOLERATIONS,
                    "consumedCapacity": Leaf.MAP,
                }
            },
        },
        "reservedFor": scalars("apiGroup", "resource", "name", "uid"),
        "devices": {**_DEVICE_ID, "conditions": scalars("type", "status")},
    },
)
RESOURCE_CLAIM_TEMPLATE = an_object(spec={"spec": _CLAIM_SPEC})
DEVICE_CLASS = an_object(spec={"selectors": _EXPRESSIONS, "extendedResourceName": Leaf.SCALAR})
_COUNTERS: Fields = {"counters": ByName(scalars("value"))}
_REACH: Fields = {**scalars("nodeName", "allNodes"), "nodeSelector": NODE_SELECTOR}
_DEVICE: Fields = {
    **_REACH,
    **scalars("bindsToNode", "bindingConditions", "bindingFailureConditions", "allowMultipleAllocations"),
    "attributes": ByName(scalars("string", "int", "bool", "version")),
    "capacity": ByName(
        {
            "value": Leaf.SCALAR,
            "requestPolicy": {**scalars("default", "validValues"), "validRange": scalars("min", "max", "step")},
        }
    ),
    "consumesCounters": {"counterSet": Leaf.SCALAR, **_COUNTERS},
    "taints": _TAINT,
}
RESOURCE_SLICE = an_object(
    spec={
        **_REACH,
        **scalars("driver", "perDeviceNodeSelection"),
        "pool": scalars("name", "generation", "resourceSliceCount"),
        "sharedCounters": {"name": Leaf.SCALAR, **_COUNTERS},
        "devices": {"name": Leaf.SCALAR, **_DEVICE, "basic": _DEVICE},
    }
)
DEVICE_TAINT_RULE = an_object(spec={"deviceSelector": _DEVICE_ID, "taint": _TAINT})

NODE_USAGE = an_object(usage=Leaf.MAP)
POD_USAGE = an_object(containers={"usage": Leaf.MAP})

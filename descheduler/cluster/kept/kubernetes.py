"""What a dump keeps of objects of Kubernetes itself; tests compare it with what the decoders read."""

from __future__ import annotations

from descheduler.cluster.kept.pods import (
    CLAIM_SPEC,
    CLAIM_TEMPLATE,
    NODE_SELECTOR,
    POD_SPEC,
    POD_STATUS,
    POD_TEMPLATE,
    SELECTOR,
    TOLERATIONS,
)
from descheduler.cluster.kept.shapes import Fields, Leaf, an_object, scalars

__all__ = [
    "ATTACHMENT",
    "BUDGET",
    "CLAIM",
    "CSI_DRIVER",
    "CSI_NODE",
    "DAEMON_SET",
    "LIMIT_RANGE",
    "NODE",
    "NODE_USAGE",
    "POD",
    "POD_USAGE",
    "PRIORITY_CLASS",
    "QUOTA",
    "REPLICATION_CONTROLLER",
    "RESOURCE_CLAIM",
    "RUNTIME_CLASS",
    "SERVICE",
    "STORAGE_CAPACITY",
    "STORAGE_CLASS",
    "VOLUME",
    "WORKLOAD",
]

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
PRIORITY_CLASS = an_object(**scalars("value", "preemptionPolicy"))
BUDGET = an_object(
    spec={**scalars("minAvailable", "maxUnavailable", "unhealthyPodEvictionPolicy"), "selector": SELECTOR},
    status={
        **scalars("observedGeneration", "disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"),
        "disruptedPods": Leaf.MAP,
        "conditions": scalars("type", "status", "reason", "message"),
    },
)

_REPLICAS: Fields = {
    **scalars("replicas", "parallelism", "podManagementPolicy", "podReplacementPolicy"),
    "template": POD_TEMPLATE,
    "volumeClaimTemplates": CLAIM_TEMPLATE,
}
WORKLOAD = an_object(spec={**_REPLICAS, "selector": SELECTOR})
"""A controller of pods; all kinds of them have one shape."""
REPLICATION_CONTROLLER = an_object(spec={**_REPLICAS, "selector": Leaf.MAP})
DAEMON_SET = an_object(spec={"selector": SELECTOR, "template": POD_TEMPLATE})

SERVICE = an_object(spec={"selector": Leaf.MAP})
RUNTIME_CLASS = an_object(
    overhead={"podFixed": Leaf.MAP}, scheduling={"nodeSelector": Leaf.MAP, "tolerations": TOLERATIONS}
)
LIMIT_RANGE = an_object(spec={"limits": {"type": Leaf.SCALAR, "default": Leaf.MAP, "defaultRequest": Leaf.MAP}})
QUOTA = an_object(spec={"hard": Leaf.MAP}, status={"hard": Leaf.MAP, "used": Leaf.MAP})

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
CSI_DRIVER = an_object(spec=scalars("storageCapacity"))
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
RESOURCE_CLAIM = an_object(
    status={
        "allocation": {
            "nodeSelector": NODE_SELECTOR,
            "devices": {"results": scalars("request", "driver", "pool", "device")},
        },
        "reservedFor": scalars("apiGroup", "resource", "name", "uid"),
    }
)

NODE_USAGE = an_object(usage=Leaf.MAP)
POD_USAGE = an_object(containers={"usage": Leaf.MAP})

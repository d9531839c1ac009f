"""Objects of `resource.k8s.io`, with a canary in each string that no rule reads, opaque parameters above all."""

from __future__ import annotations

from tests.builders import Object
from tests.cluster.dumps.full_metadata import CANARY, IDLE_ANNOTATIONS, full_metadata

_NODES: Object = {
    "nodeSelectorTerms": [
        {
            "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}],
            "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}],
        }
    ]
}
_SELECTORS = [{"cel": {"expression": "true"}}]
_TAINT: Object = {"key": "broken", "value": "yes", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}
_TOLERATIONS: list[Object] = [
    {"key": "broken", "operator": "Equal", "value": "yes", "effect": "NoSchedule", "tolerationSeconds": 5}
]
_OPAQUE: Object = {"opaque": {"driver": CANARY, "parameters": {"token": CANARY, "deep": [{"key": CANARY}]}}}
_CONFIGURATION = [{"requests": [CANARY], **_OPAQUE} for _ in range(4)]
_ASKED: Object = {
    "deviceClassName": "gpu",
    "allocationMode": "ExactCount",
    "count": 2,
    "adminAccess": True,
    "selectors": _SELECTORS,
    "tolerations": _TOLERATIONS,
    "capacity": {"requests": {"memory": "1Gi"}},
}
_SPEC: Object = {
    "devices": {
        "requests": [
            {"name": "one", "exactly": _ASKED},
            {"name": "any", "firstAvailable": [{"name": "first", **_ASKED}]},
            {"name": "old", **_ASKED},
        ],
        "constraints": [
            {"requests": ["one"], "matchAttribute": "example.com/numa"},
            {"requests": ["one"], "distinctAttribute": "example.com/index"},
        ],
        "config": _CONFIGURATION,
    }
}
_ID: Object = {"driver": "example.com", "pool": "a", "device": "gpu-0"}
_COUNTERS: Object = {"counters": {"memory": {"value": "40Gi"}}}
_RANGE: Object = {"min": "1Gi", "max": "8Gi", "step": "1Gi"}
_DEVICE: Object = {
    "attributes": {
        "model": {"string": "x"},
        "index": {"int": 1},
        "healthy": {"bool": True},
        "driver": {"version": "1.2.3"},
    },
    "capacity": {
        "memory": {"value": "80Gi", "requestPolicy": {"default": "1Gi", "validRange": _RANGE}},
        "lanes": {"value": "4", "requestPolicy": {"default": "1", "validValues": ["1", "2"]}},
    },
    "consumesCounters": [{"counterSet": "card", **_COUNTERS}],
    "nodeName": "a",
    "nodeSelector": _NODES,
    "allNodes": False,
    "taints": [_TAINT],
    "bindsToNode": True,
    "bindingConditions": ["attached"],
    "bindingFailureConditions": ["failed"],
    "allowMultipleAllocations": True,
}


def device_objects() -> dict[str, Object]:
    """Name of a kind → object."""
    return {
        "ResourceClaim": _claim(),
        "ResourceClaimTemplate": {"spec": {"metadata": full_metadata(CANARY), "spec": _SPEC}},
        "DeviceClass": {
            "spec": {"selectors": _SELECTORS, "extendedResourceName": "example.com/gpu", "config": _CONFIGURATION}
        },
        "ResourceSlice": {
            "spec": {
                "driver": "example.com",
                "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1},
                "nodeName": "a",
                "nodeSelector": _NODES,
                "allNodes": False,
                "perDeviceNodeSelection": True,
                "devices": [{"name": "gpu-0", **_DEVICE}, {"name": "gpu-1", "basic": _DEVICE}],
                "sharedCounters": [{"name": "card", **_COUNTERS}],
                "notes": [CANARY] * 8,
            }
        },
        "DeviceTaintRule": {
            "spec": {"deviceSelector": _ID, "taint": _TAINT, "notes": [CANARY] * 8},
            "status": {"conditions": [{"type": CANARY, "message": CANARY}]},
        },
    }


def _claim() -> Object:
    annotations = IDLE_ANNOTATIONS | {"resource.kubernetes.io/extended-resource-claim": "true"}
    result: Object = {
        **_ID,
        "request": "one",
        "adminAccess": False,
        "tolerations": _TOLERATIONS,
        "bindingConditions": ["attached"],
        "bindingFailureConditions": ["failed"],
        "shareID": "8d2f",
        "consumedCapacity": {"memory": "1Gi"},
    }
    return {
        "metadata": full_metadata("x", annotations=annotations),
        "spec": _SPEC,
        "status": {
            "allocation": {
                "devices": {"results": [result], "config": [{"source": CANARY, **_OPAQUE}]},
                "nodeSelector": _NODES,
                "allocationTimestamp": "2026-01-01T00:00:00Z",
            },
            "reservedFor": [{"apiGroup": "", "resource": "pods", "name": "x", "uid": "u"}],
            "devices": [
                {
                    **_ID,
                    "conditions": [{"type": "attached", "status": "True", "reason": CANARY, "message": CANARY}],
                    "data": {"secret": CANARY},
                    "networkData": {"interfaceName": CANARY, "ips": [CANARY], "hardwareAddress": CANARY},
                }
            ],
        },
    }

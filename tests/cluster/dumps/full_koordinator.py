"""Objects of Koordinator, with a canary in each string that no rule reads."""

from __future__ import annotations

from tests.builders import Object
from tests.cluster.dumps.full_metadata import CANARY, CONDITION, IDLE_ANNOTATIONS, SELECTOR, full_metadata
from tests.cluster.dumps.full_pods import full_template

_READ_ON_JOBS = {
    "descheduler.alpha.kubernetes.io/evict": "",
    "descheduler.koordinator.sh/passed-arbitration": "true",
}


def koordinator_objects() -> dict[str, Object]:
    """Name of a kind → object."""
    return {
        "Device": _device(),
        "Reservation": _reservation(),
        "NodeMetric": _node_metric(),
        "NodeResourceTopology": _node_topology(),
        "PodMigrationJob": _migration_job(),
        "ElasticQuota": _elastic_quota(),
    }


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
                    "conditions": [CONDITION],
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
                {"controller": {**controller, "namespace": "shop"}, "labelSelector": SELECTOR},
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
                    **CONDITION,
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
            "conditions": [CONDITION],
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


def _migration_job() -> Object:
    return {
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
    }


def _elastic_quota() -> Object:
    return {
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
    }

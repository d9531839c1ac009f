"""PodGroups, jobs and queues with a canary in each string that no rule reads."""

from __future__ import annotations

from tests.builders import Object
from tests.cluster.dumps.full_metadata import CANARY, CONDITION, IDLE_ANNOTATIONS, full_metadata

_NODE_GROUPS = {
    "requiredDuringSchedulingIgnoredDuringExecution": ["gpu"],
    "preferredDuringSchedulingIgnoredDuringExecution": ["cpu"],
}


def volcano_objects() -> dict[str, Object]:
    """Objects that Volcano reads, and the PodGroups of others."""
    return {
        "PodGroup": _gang(),
        "PodGroup.scheduling.k8s.io": _kubernetes_gang(),
        "Job.batch.volcano.sh": _volcano_job(),
        "Queue": _queue(),
    }


def _gang() -> Object:
    return {
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
    }


def _kubernetes_gang() -> Object:
    return {
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": 3}},
            "disruptionMode": {"all": {"x": CANARY}},
            "workloadRef": {"workloadName": CANARY, "templateName": CANARY},
            "priorityClassName": CANARY,
        },
        "status": {"conditions": [CONDITION]},
    }


def _volcano_job() -> Object:
    return {
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
    }


def _queue() -> Object:
    return {
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
    }

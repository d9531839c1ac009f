"""A pod, and what workloads and Reservations repeat of it, with a value in every field that some rule reads."""

from __future__ import annotations

from tests.builders import Object, ago

DOMAIN = "scheduling.koordinator.sh/"
_G = "gang.scheduling.koordinator.sh/"
CONDITION = {"type": "Ready", "status": "True", "reason": "r", "message": "m", "lastTransitionTime": ago(90)}
SELECTOR = {"matchLabels": {"app": "odd"}, "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
TERM = {
    "matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["z"]}],
    "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["free"]}],
}
AMOUNTS = {"cpu": "100m", "memory": "1Mi", "example.com/gpu": "1"}
_POD_TERM = {"labelSelector": SELECTOR, "namespaceSelector": SELECTOR, "namespaces": ["odd"], "topologyKey": "zone"}
_POD_TERMS = {
    "requiredDuringSchedulingIgnoredDuringExecution": [_POD_TERM],
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "podAffinityTerm": _POD_TERM}],
}
POD_SPEC: Object = {
    "nodeName": "free",
    "schedulerName": "koord-scheduler",
    "priority": 100,
    "priorityClassName": "odd",
    "runtimeClassName": "odd",
    "preemptionPolicy": "Never",
    "terminationGracePeriodSeconds": 30,
    "restartPolicy": "Always",
    "hostNetwork": False,
    "overhead": {"cpu": "10m"},
    "nodeSelector": {"zone": "a"},
    "schedulingGates": [{"name": "g"}],
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": TERM}],
        },
        "podAffinity": _POD_TERMS,
        "podAntiAffinity": _POD_TERMS,
    },
    "tolerations": [
        {"key": "k", "operator": "Exists", "value": "", "effect": "NoExecute", "tolerationSeconds": 300},
        {"key": "gone", "operator": "Equal", "value": "soon"},
    ],
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "minDomains": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": SELECTOR,
            "matchLabelKeys": ["app"],
            "nodeAffinityPolicy": "Honor",
            "nodeTaintsPolicy": "Honor",
        }
    ],
    "volumes": [
        {"name": "a", "persistentVolumeClaim": {"claimName": "odd"}},
        {"name": "b", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
        {"name": "c", "csi": {"driver": "d"}},
        {"name": "d", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "odd"}}}},
    ],
    "resourceClaims": [{"name": "c", "resourceClaimName": "c"}],
    "resources": {"requests": {"cpu": "200m"}},
    "initContainers": [{"name": "i", "image": "i", "restartPolicy": "Always", "resources": {"requests": AMOUNTS}}],
    "containers": [
        {
            "name": "c",
            "image": "app:1",
            "resources": {"requests": AMOUNTS, "limits": AMOUNTS},
            "ports": [{"containerPort": 80, "hostPort": 80, "hostIP": "10.0.0.1", "protocol": "TCP"}],
        }
    ],
}
CONTAINER_STATUS = {
    "name": "c",
    "ready": True,
    "restartCount": 1,
    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    "lastState": {"terminated": {"reason": "Error", "exitCode": 1}},
    "allocatedResources": AMOUNTS,
    "resources": {"requests": AMOUNTS},
}
ANNOTATIONS = {
    f"{DOMAIN}device-allocated": '{"gpu": [{"minor": 0, "resources": {"koordinator.sh/gpu-core": "50"}}]}',
    f"{DOMAIN}reservation-allocated": '{"name": "odd", "uid": "odd"}',
    f"{DOMAIN}reservation-affinity": '{"name": "odd"}',
    f"{DOMAIN}numa-topology-spec": '{"numaTopologyPolicy": "Restricted"}',
    f"{DOMAIN}device-allocate-hint": '{"gpu": {"allocateStrategy": "ApplyForAll"}}',
    f"{DOMAIN}resource-status": '{"cpuset": "0-1"}',
    f"{DOMAIN}resource-spec": '{"preferredCPUBindPolicy": "FullPCPUs"}',
    f"{_G}min-available": "1",
    f"{_G}groups": '["odd/a"]',
    "deployment.kubernetes.io/revision": "3",
    "descheduler.alpha.kubernetes.io/evict": "true",
    "descheduler.alpha.kubernetes.io/prefer-no-eviction": "true",
    "controller.kubernetes.io/pod-deletion-cost": "100",
    "volume.kubernetes.io/selected-node": "free",
}
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "odd", "uid": "odd", "controller": True}
TEMPLATE = {
    "metadata": {"labels": {"app": "odd"}, "annotations": ANNOTATIONS},
    "spec": {key: part for key, part in POD_SPEC.items() if key != "nodeName"},
}

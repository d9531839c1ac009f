"""A pod with every field that Kubernetes 1.36 knows: a canary stands in each string that no rule reads."""

from __future__ import annotations

from tests.builders import Object
from tests.cluster.dumps.full_metadata import CANARY, IDLE_ANNOTATIONS, SELECTOR, full_metadata

_KEY_REF = {"name": CANARY, "key": CANARY, "optional": False}
_NODE_TERM: Object = {
    "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}],
    "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}],
}
_POD_TERM: Object = {
    "topologyKey": "zone",
    "namespaces": ["shop"],
    "labelSelector": SELECTOR,
    "namespaceSelector": SELECTOR,
    "matchLabelKeys": ["app"],
    "mismatchLabelKeys": ["tier"],
}
_POD_AFFINITY: Object = {
    "requiredDuringSchedulingIgnoredDuringExecution": [_POD_TERM],
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 3, "podAffinityTerm": _POD_TERM}],
}
_HANDLER: Object = {
    "exec": {"command": ["sh", "-c", CANARY]},
    "httpGet": {
        "path": f"/?token={CANARY}",
        "port": CANARY,
        "host": f"user:{CANARY}@host",
        "scheme": CANARY,
        "httpHeaders": [{"name": CANARY, "value": CANARY}],
    },
    "tcpSocket": {"host": CANARY, "port": CANARY},
    "grpc": {"port": 1, "service": CANARY},
    "sleep": {"seconds": 1},
}
_PROBE = _HANDLER | {"initialDelaySeconds": 1, "terminationGracePeriodSeconds": 1}
_SECURITY: Object = {
    "capabilities": {"add": [CANARY], "drop": [CANARY]},
    "privileged": False,
    "seLinuxOptions": {"user": CANARY, "role": CANARY, "type": CANARY, "level": CANARY},
    "windowsOptions": {"gmsaCredentialSpec": CANARY, "gmsaCredentialSpecName": CANARY, "runAsUserName": CANARY},
    "runAsUser": 1,
    "procMount": CANARY,
    "seccompProfile": {"type": CANARY, "localhostProfile": CANARY},
    "appArmorProfile": {"type": CANARY, "localhostProfile": CANARY},
    "supplementalGroupsPolicy": CANARY,
    "sysctls": [{"name": CANARY, "value": CANARY}],
}
_RESOURCES: Object = {
    "requests": {"cpu": "1", "memory": "1Gi"},
    "limits": {"cpu": "2"},
    "claims": [{"name": CANARY, "request": CANARY}],
}


def _container(name: str, **fields: object) -> Object:
    return {
        "name": name,
        "image": "app:1",
        "command": ["sh", "-c", f"login {CANARY}"],
        "args": [f"--password={CANARY}"],
        "workingDir": CANARY,
        "ports": [
            {"name": CANARY, "containerPort": 80, "hostPort": 8080, "hostIP": "10.0.0.1", "protocol": "UDP"},
        ],
        "env": [
            {"name": CANARY, "value": CANARY},
            {"name": CANARY, "valueFrom": {"secretKeyRef": _KEY_REF}},
            {"name": CANARY, "valueFrom": {"configMapKeyRef": _KEY_REF}},
            {"name": CANARY, "valueFrom": {"fieldRef": {"fieldPath": CANARY, "apiVersion": CANARY}}},
            {"name": CANARY, "valueFrom": {"resourceFieldRef": {"containerName": CANARY, "resource": CANARY}}},
            {"name": CANARY, "valueFrom": {"fileKeyRef": {"volumeName": CANARY, "path": CANARY, "key": CANARY}}},
        ],
        "envFrom": [
            {"prefix": CANARY, "secretRef": {"name": CANARY}},
            {"prefix": CANARY, "configMapRef": {"name": CANARY}},
        ],
        "resources": _RESOURCES,
        "resizePolicy": [{"resourceName": CANARY, "restartPolicy": CANARY}],
        "restartPolicy": "Always",
        "restartPolicyRules": [
            {"action": "RestartAllContainers", "exitCodes": {"operator": CANARY, "values": [1]}},
        ],
        "volumeMounts": [
            {
                "name": CANARY,
                "mountPath": CANARY,
                "subPath": CANARY,
                "subPathExpr": CANARY,
                "mountPropagation": CANARY,
                "recursiveReadOnly": CANARY,
            }
        ],
        "volumeDevices": [{"name": CANARY, "devicePath": CANARY}],
        "livenessProbe": _PROBE,
        "readinessProbe": _PROBE,
        "startupProbe": _PROBE,
        "lifecycle": {"postStart": _HANDLER, "preStop": _HANDLER, "stopSignal": CANARY},
        "terminationMessagePath": CANARY,
        "terminationMessagePolicy": CANARY,
        "imagePullPolicy": CANARY,
        "securityContext": _SECURITY,
        "stdin": False,
        **fields,
    }


def full_claim_spec() -> Object:
    """`spec` of a claim."""
    return {
        "accessModes": ["ReadWriteOnce"],
        "selector": SELECTOR,
        "resources": {"requests": {"storage": "1Gi"}, "limits": {CANARY: "1"}},
        "volumeName": "disk",
        "storageClassName": "fast",
        "volumeMode": "Block",
        "volumeAttributesClassName": "gold",
        "dataSource": {"apiGroup": CANARY, "kind": CANARY, "name": CANARY},
        "dataSourceRef": {"apiGroup": CANARY, "kind": CANARY, "name": CANARY, "namespace": CANARY},
    }


def full_claim_template() -> Object:
    """A template of claims."""
    metadata = {"name": "data", "labels": {"app": "x"}, "annotations": IDLE_ANNOTATIONS}
    return {"kind": CANARY, "apiVersion": CANARY, "metadata": metadata, "spec": full_claim_spec()}


def _read_volumes() -> list[Object]:
    return [
        {"name": "claim", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}},
        {"name": "host", "hostPath": {"path": CANARY, "type": CANARY}},
        {"name": "empty", "emptyDir": {"medium": CANARY, "sizeLimit": "1Gi"}},
        {"name": "ephemeral", "ephemeral": {"volumeClaimTemplate": full_claim_template()}},
        {"name": "image", "image": {"reference": "model:1", "pullPolicy": CANARY}},
        {"name": "gce", "gcePersistentDisk": {"pdName": "disk", "fsType": CANARY, "partition": 1, "readOnly": True}},
        {"name": "aws", "awsElasticBlockStore": {"volumeID": "vol-1", "fsType": CANARY, "readOnly": True}},
        {
            "name": "azure",
            "azureDisk": {
                "diskName": CANARY,
                "diskURI": "/subscriptions/1/disk",
                "cachingMode": CANARY,
                "fsType": CANARY,
                "kind": "Managed",
            },
        },
        {"name": "cinder", "cinder": {"volumeID": "vol-2", "fsType": CANARY, "secretRef": {"name": CANARY}}},
        {"name": "portworx", "portworxVolume": {"volumeID": "vol-3", "fsType": CANARY}},
        {
            "name": "iscsi",
            "iscsi": {
                "targetPortal": f"user:{CANARY}@host:3260",
                "iqn": "iqn.2001-04.com.example:disk",
                "lun": 1,
                "iscsiInterface": CANARY,
                "fsType": CANARY,
                "readOnly": True,
                "portals": [CANARY],
                "chapAuthDiscovery": True,
                "secretRef": {"name": CANARY},
                "initiatorName": CANARY,
            },
        },
        {
            "name": "rbd",
            "rbd": {
                "monitors": ["host:6789"],
                "image": "disk",
                "pool": "fast",
                "fsType": CANARY,
                "user": CANARY,
                "keyring": CANARY,
                "secretRef": {"name": CANARY},
                "readOnly": True,
            },
        },
    ]


def _idle_volumes() -> list[Object]:
    secret = {"name": CANARY}
    return [
        {"name": CANARY, "secret": {"secretName": CANARY, "items": [{"key": CANARY, "path": CANARY}]}},
        {"name": CANARY, "configMap": {"name": CANARY}},
        {"name": CANARY, "downwardAPI": {"items": [{"path": CANARY, "fieldRef": {"fieldPath": CANARY}}]}},
        {"name": CANARY, "projected": {"sources": [{"secret": secret, "serviceAccountToken": {"path": CANARY}}]}},
        {"name": CANARY, "nfs": {"server": CANARY, "path": CANARY}},
        {"name": CANARY, "gitRepo": {"repository": f"https://user:{CANARY}@host/x.git", "revision": CANARY}},
        {"name": CANARY, "glusterfs": {"endpoints": CANARY, "path": CANARY}},
        {"name": CANARY, "flexVolume": {"driver": CANARY, "secretRef": secret, "options": {"password": CANARY}}},
        {"name": CANARY, "cephfs": {"monitors": [CANARY], "user": CANARY, "secretFile": CANARY, "secretRef": secret}},
        {"name": CANARY, "flocker": {"datasetName": CANARY, "datasetUUID": CANARY}},
        {"name": CANARY, "fc": {"targetWWNs": [CANARY], "wwids": [CANARY]}},
        {"name": CANARY, "azureFile": {"secretName": CANARY, "shareName": CANARY}},
        {"name": CANARY, "vsphereVolume": {"volumePath": CANARY, "storagePolicyName": CANARY}},
        {"name": CANARY, "quobyte": {"registry": CANARY, "volume": CANARY, "user": CANARY, "tenant": CANARY}},
        {"name": CANARY, "photonPersistentDisk": {"pdID": CANARY}},
        {"name": CANARY, "scaleIO": {"gateway": CANARY, "system": CANARY, "secretRef": secret, "volumeName": CANARY}},
        {"name": CANARY, "storageos": {"volumeName": CANARY, "secretRef": secret}},
        {
            "name": CANARY,
            "csi": {"driver": CANARY, "volumeAttributes": {"key": CANARY}, "nodePublishSecretRef": secret},
        },
    ]


def full_pod_spec() -> Object:
    """`spec` of a pod."""
    return {
        "volumes": [*_read_volumes(), *_idle_volumes()],
        "initContainers": [_container("first"), _container("second", restartPolicy="OnFailure")],
        "containers": [_container("main")],
        "ephemeralContainers": [_container(CANARY, targetContainerName=CANARY, image=CANARY)],
        "restartPolicy": CANARY,
        "terminationGracePeriodSeconds": 30,
        "activeDeadlineSeconds": 1,
        "dnsPolicy": CANARY,
        "nodeSelector": {"pool": "fast"},
        "serviceAccountName": CANARY,
        "serviceAccount": CANARY,
        "automountServiceAccountToken": True,
        "nodeName": "a",
        "hostNetwork": True,
        "hostPID": True,
        "hostIPC": True,
        "shareProcessNamespace": True,
        "securityContext": _SECURITY,
        "imagePullSecrets": [{"name": CANARY}],
        "hostname": CANARY,
        "hostnameOverride": CANARY,
        "subdomain": CANARY,
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_NODE_TERM]},
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": _NODE_TERM}],
            },
            "podAffinity": _POD_AFFINITY,
            "podAntiAffinity": _POD_AFFINITY,
        },
        "schedulerName": "default-scheduler",
        "tolerations": [
            {"key": "gpu", "operator": "Equal", "value": "yes", "effect": "NoExecute", "tolerationSeconds": 5},
        ],
        "hostAliases": [{"ip": CANARY, "hostnames": [CANARY]}],
        "priorityClassName": "gold",
        "priority": 7,
        "dnsConfig": {
            "nameservers": [CANARY],
            "searches": [CANARY],
            "options": [{"name": CANARY, "value": CANARY}],
        },
        "readinessGates": [{"conditionType": CANARY}],
        "runtimeClassName": "slow",
        "enableServiceLinks": True,
        "preemptionPolicy": "Never",
        "overhead": {"cpu": "10m"},
        "topologySpreadConstraints": [
            {
                "maxSkew": 2,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": SELECTOR,
                "minDomains": 3,
                "nodeAffinityPolicy": "Ignore",
                "nodeTaintsPolicy": "Honor",
                "matchLabelKeys": ["app"],
            }
        ],
        "setHostnameAsFQDN": True,
        "os": {"name": CANARY},
        "hostUsers": False,
        "schedulingGates": [{"name": "wait"}],
        "resourceClaims": [
            {"name": "gpu", "resourceClaimName": "gpu-1", "resourceClaimTemplateName": "gpus"},
        ],
        "resources": {"requests": {"cpu": "3"}, "limits": {"cpu": "4"}, "claims": [{"name": CANARY}]},
        "schedulingGroup": {"podGroupName": "gang"},
        "workloadRef": {"name": "gang", "podGroup": "workers", "podGroupReplicaKey": "0"},
    }


def full_template() -> Object:
    """A template of pods."""
    metadata = {"name": CANARY, "labels": {"app": "x"}, "annotations": IDLE_ANNOTATIONS | _READ_ON_PODS}
    return {"metadata": metadata, "spec": full_pod_spec()}


_READ_ON_PODS = {"descheduler.alpha.kubernetes.io/evict": "", "scheduling.koordinator.sh/eviction-cost": "1"}


def _container_status(name: str) -> Object:
    state: Object = {
        "waiting": {"reason": "CrashLoopBackOff", "message": CANARY},
        "running": {"startedAt": "2026-01-01T00:00:00Z"},
        "terminated": {
            "exitCode": 3,
            "signal": 9,
            "reason": "Error",
            "message": f"cannot login with {CANARY}",
            "containerID": CANARY,
        },
    }
    return {
        "name": name,
        "state": state,
        "lastState": {key: {"message": CANARY, "reason": CANARY} for key in state},
        "ready": True,
        "restartCount": 4,
        "image": CANARY,
        "imageID": CANARY,
        "containerID": CANARY,
        "started": True,
        "allocatedResources": {"cpu": "5"},
        "resources": {"requests": {"cpu": "6"}, "limits": {"cpu": "7"}, "claims": [{"name": CANARY}]},
        "volumeMounts": [{"name": CANARY, "mountPath": CANARY}],
        "user": {"linux": {"uid": 1}},
        "allocatedResourcesStatus": [{"name": CANARY, "resources": [{"resourceID": CANARY, "health": CANARY}]}],
        "stopSignal": CANARY,
    }


def full_pod() -> Object:
    """A whole pod."""
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": full_metadata("x", annotations=IDLE_ANNOTATIONS | _READ_ON_PODS),
        "spec": full_pod_spec(),
        "status": {
            "observedGeneration": 1,
            "phase": "Running",
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True",
                    "reason": "Fine",
                    "message": CANARY,
                    "observedGeneration": 1,
                    "lastProbeTime": "2026-01-01T00:00:00Z",
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                }
            ],
            "message": CANARY,
            "reason": "Evicted",
            "nominatedNodeName": "a",
            "hostIP": CANARY,
            "hostIPs": [{"ip": CANARY}],
            "podIP": CANARY,
            "podIPs": [{"ip": CANARY}],
            "startTime": "2026-01-01T00:00:01Z",
            "initContainerStatuses": [_container_status("first")],
            "containerStatuses": [_container_status("main")],
            "qosClass": "Burstable",
            "ephemeralContainerStatuses": [_container_status("debug")],
            "resize": CANARY,
            "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "gpu-1"}],
            "extendedResourceClaimStatus": {
                "resourceClaimName": "gpu-2",
                "requestMappings": [{"containerName": CANARY}],
            },
            "allocatedResources": {"cpu": "8"},
            "resources": {"requests": {"cpu": "9"}, "limits": {"cpu": "10"}, "claims": [{"name": CANARY}]},
        },
    }

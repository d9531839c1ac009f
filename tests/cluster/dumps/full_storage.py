"""Volumes, claims and what drivers say of themselves, with a canary in each string that no rule reads."""

from __future__ import annotations

from tests.builders import Object
from tests.cluster.dumps.full_metadata import CANARY, CONDITION, IDLE_ANNOTATIONS, SELECTOR, full_metadata
from tests.cluster.dumps.full_pods import full_claim_spec

_SECRET_REF = {"name": CANARY, "namespace": CANARY}


def storage_objects() -> dict[str, Object]:
    """Name of a kind → object."""
    on_claims = {
        "pv.kubernetes.io/bind-completed": "yes",
        "volume.kubernetes.io/selected-node": "a",
        "volume.beta.kubernetes.io/storage-class": "slow",
        "volume.kubernetes.io/storage-provisioner": CANARY,
    }
    zones = [{"key": "zone", "operator": "In", "values": ["a"]}]
    terms = [{"matchExpressions": zones, "matchFields": [zones[0] | {"key": "metadata.name"}]}]
    volume_handle = {"driver": "d", "volumeHandle": "handle", "fsType": CANARY}
    return {
        "PersistentVolumeClaim": {
            "metadata": full_metadata("x", annotations=IDLE_ANNOTATIONS | on_claims),
            "spec": full_claim_spec(),
            "status": {"phase": "Bound", "conditions": [CONDITION], "currentVolumeAttributesClassName": CANARY},
        },
        "PersistentVolume": {
            "metadata": full_metadata("x", annotations=IDLE_ANNOTATIONS),
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "claimRef": {"namespace": "shop", "name": "x", "uid": "uid-x", "resourceVersion": CANARY},
                "persistentVolumeReclaimPolicy": CANARY,
                "storageClassName": "fast",
                "mountOptions": [f"password={CANARY}"],
                "volumeMode": "Block",
                "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
                "volumeAttributesClassName": "gold",
                "csi": volume_handle
                | {
                    "volumeAttributes": {"key": CANARY},
                    "controllerPublishSecretRef": _SECRET_REF,
                    "nodeStageSecretRef": _SECRET_REF,
                    "nodePublishSecretRef": _SECRET_REF,
                    "controllerExpandSecretRef": _SECRET_REF,
                    "nodeExpandSecretRef": _SECRET_REF,
                },
                "gcePersistentDisk": {"pdName": "disk", "fsType": CANARY},
                "awsElasticBlockStore": {"volumeID": "vol-1", "fsType": CANARY},
                "azureDisk": {"diskName": CANARY, "diskURI": "/subscriptions/1", "kind": "Managed"},
                "cinder": {"volumeID": "vol-2", "secretRef": _SECRET_REF},
                "portworxVolume": {"volumeID": "vol-3", "fsType": CANARY},
                "azureFile": {"secretName": CANARY, "shareName": CANARY, "secretNamespace": CANARY},
                "cephfs": {"monitors": [CANARY], "user": CANARY, "secretRef": _SECRET_REF},
                "flexVolume": {"driver": CANARY, "options": {"password": CANARY}, "secretRef": _SECRET_REF},
                "glusterfs": {"endpoints": CANARY, "path": CANARY, "endpointsNamespace": CANARY},
                "iscsi": {"targetPortal": CANARY, "iqn": CANARY, "secretRef": _SECRET_REF},
                "rbd": {"monitors": [CANARY], "user": CANARY, "keyring": CANARY, "secretRef": _SECRET_REF},
                "nfs": {"server": CANARY, "path": CANARY},
                "hostPath": {"path": CANARY},
                "local": {"path": CANARY},
            },
            "status": {"phase": "Bound", "message": CANARY, "reason": CANARY},
        },
        "StorageClass": {
            "metadata": full_metadata("x", annotations={"storageclass.kubernetes.io/is-default-class": "true"}),
            "provisioner": "d",
            "parameters": {"csi.storage.k8s.io/provisioner-secret-name": CANARY, "password": CANARY},
            "reclaimPolicy": CANARY,
            "mountOptions": [f"password={CANARY}"],
            "volumeBindingMode": "WaitForFirstConsumer",
            "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}],
        },
        "CSINode": {
            "metadata": full_metadata(
                "x", annotations={"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}
            ),
            "spec": {
                "drivers": [{"name": "d", "nodeID": CANARY, "topologyKeys": [CANARY], "allocatable": {"count": 3}}],
            },
        },
        "CSIDriver": {
            "spec": {
                "storageCapacity": True,
                "preventPodSchedulingIfMissing": True,
                "fsGroupPolicy": CANARY,
                "tokenRequests": [{"audience": CANARY}],
            },
        },
        "CSIStorageCapacity": {
            "nodeTopology": SELECTOR,
            "storageClassName": "fast",
            "capacity": "4Gi",
            "maximumVolumeSize": "2Gi",
        },
        "VolumeAttachment": {
            "spec": {
                "attacher": "d",
                "source": {
                    "persistentVolumeName": "x",
                    "inlineVolumeSpec": {
                        "csi": volume_handle | {"volumeAttributes": {"key": CANARY}},
                        "mountOptions": [f"password={CANARY}"],
                    },
                },
                "nodeName": "a",
            },
            "status": {
                "attached": False,
                "attachmentMetadata": {"path": CANARY},
                "attachError": {"message": CANARY},
                "detachError": {"message": CANARY},
            },
        },
    }

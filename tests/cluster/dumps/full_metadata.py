"""Metadata and other parts that all kinds have, with a canary in each string that no rule reads."""

from __future__ import annotations

from tests.builders import Object

CANARY = "hunter2"

IDLE_ANNOTATIONS = {
    "kubectl.kubernetes.io/last-applied-configuration": f'{{"args":["--password={CANARY}"]}}',
    "kopf.zalando.org/last-handled-configuration": f'{{"spec":{{"args":["--password={CANARY}"]}}}}',
    "kubernetes.io/change-cause": f"kubectl set env PASSWORD={CANARY}",
    "ad.datadoghq.com/main.instances": f'[{{"password":"{CANARY}"}}]',
    "vault.hashicorp.com/agent-inject-template-db": CANARY,
    "proxy.istio.io/config": CANARY,
    "sidecar.istio.io/userVolume": CANARY,
    "objectset.rio.cattle.io/applied": CANARY,
    "kapp.k14s.io/original": CANARY,
    "meta.helm.sh/release-name": CANARY,
    "descheduler.alpha.kubernetes.io/note": CANARY,
    "example.com/koordinator.sh": CANARY,
    "scheduling.koordinator.sh/note": CANARY,
}
SELECTOR: Object = {
    "matchLabels": {"app": "x"},
    "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}],
}
CONDITION = {"type": CANARY, "status": CANARY, "reason": CANARY, "message": CANARY}


def full_metadata(name: str, **fields: object) -> Object:
    """`metadata` of an object in namespace `shop`."""
    return {
        "name": name,
        "namespace": "shop",
        "uid": f"uid-{name}",
        "generateName": CANARY,
        "selfLink": CANARY,
        "resourceVersion": CANARY,
        "generation": 2,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "deletionTimestamp": "2026-01-02T00:00:00Z",
        "deletionGracePeriodSeconds": 30,
        "finalizers": [CANARY],
        "labels": {"app": "x"},
        "annotations": IDLE_ANNOTATIONS,
        "managedFields": [{"manager": CANARY, "operation": CANARY, "fieldsV1": {f"f:{CANARY}": {}}}],
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": "x",
                "uid": "uid-x",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
        **fields,
    }

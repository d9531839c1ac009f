"""Workloads and nodes as etcd holds them when all has been running for a while, for `cluster_fill.fill`.

They are alike enough to what controllers and kubelets would have written for these to have nothing to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from tests.e2e import objects
from tests.e2e.kube_api import Object

_SINCE = "2026-01-01T00:00:00Z"


def ready_node(name: str, **facts: Any) -> Object:
    """A node that says it is ready; `facts` are the keywords of `objects.node`."""
    made = objects.node(name, **facts)
    made["status"]["conditions"] = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
    return made


def replica_set(name: str, namespace: str, *, replicas: int, template: Mapping[str, Any]) -> Object:
    """A ReplicaSet with a uid, whose pods have all labels of its `template`."""
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": stored_uid("replicaset", name),
            "labels": template["metadata"]["labels"],
            "generation": 1,
        },
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": template["metadata"]["labels"]},
            "template": template,
        },
    }


def running_pod(owner: Object, number: int, node_name: str) -> Object:
    """Pod `number` of a ReplicaSet, ready on its node."""
    template = owner["spec"]["template"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{owner['metadata']['name']}-{number:02}",
            "namespace": owner["metadata"]["namespace"],
            "labels": template["metadata"]["labels"],
            "ownerReferences": [owner_reference(owner)],
        },
        "spec": {**template["spec"], "nodeName": node_name, "priority": 0},
        "status": {
            "phase": "Running",
            "startTime": _SINCE,
            "conditions": [
                {"type": kind, "status": "True", "lastTransitionTime": _SINCE}
                for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
            ],
        },
    }


def owner_reference(owner: Object) -> Object:
    """The reference to the controller `owner`, which has a uid."""
    meta = owner["metadata"]
    head = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta["name"], "uid": meta["uid"]}
    return {**head, "controller": True, "blockOwnerDeletion": True}


def stored_uid(kind: str, name: str) -> str:
    """A uid that objects can refer to before they are written."""
    return str(uuid5(NAMESPACE_URL, f"{kind}/{name}"))

"""Clusters in which nothing happens by itself, and single requests to them, for tests of the API."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.living.cluster import LivingCluster
from tests.living.store import Object

PODS = "/api/v1/namespaces/default/pods"
JOBS = "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs"
MAPS = "/api/v1/namespaces/default/configmaps"


def still_cluster(objects: Iterable[Object] = (), **options: Any) -> LivingCluster:
    """A cluster in which nothing happens by itself."""
    return LivingCluster(objects, acts=False, **options)


def bound_pod(name: str, *, node: str = "n1", **labels: str) -> Object:
    """A pod that runs on a node."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "spec": {"nodeName": node, "containers": [{"name": "main"}], "terminationGracePeriodSeconds": 30},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def asked(
    cluster: LivingCluster, method: str, path: str, body: Any = None, /, content_type: str = "", **query: str
) -> tuple[int, Any]:
    """Status and document of the answer to one request."""
    given = None if body is None else json.dumps(body).encode()
    kind = content_type or ("application/merge-patch+json" if method == "PATCH" else "application/json")
    answer = cluster.transport().send(method, path, query=query, body=given, content_type=kind, max_bytes=1 << 22)
    return answer.status_code, json.loads(answer.body)


def names(answer: tuple[int, Any]) -> list[str]:
    """The names in a list."""
    return [item["metadata"]["name"] for item in answer[1]["items"]]

"""Puts a cluster behind a running API server, and back to what it was, by writing to etcd."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from urllib.parse import urlencode

import urllib3

from tests.e2e.cluster_fill import fill
from tests.e2e.control_plane import ControlPlane
from tests.e2e.kube_api import Object

_FOLDERS = (
    "minions",
    "pods",
    "poddisruptionbudgets",
    "persistentvolumeclaims",
    "replicasets",
    "deployments",
    "statefulsets",
    "events",
)
_PAGE = 2000


class LiveState:
    """The objects of one case. The API server learns of changes by its watch, as of those by another API server."""

    def __init__(self, plane: ControlPlane, objects: Sequence[Object]) -> None:
        self._plane = plane
        self._objects = objects
        self._changing = [obj for obj in objects if obj["kind"] in ("Pod", "PodDisruptionBudget")]

    def install(self) -> None:
        """Replaces whatever cluster is there by this one."""
        for folder in _FOLDERS:
            _delete_all(self._plane.etcd_url, f"/registry/{folder}/")
        fill(self._plane.etcd_url, self._objects)

    def restore(self) -> None:
        """Brings back evicted pods, and budgets as they were."""
        fill(self._plane.etcd_url, self._changing)

    def pods(self) -> frozenset[str]:
        """`namespace/name` of all pods that are there now."""
        found: set[str] = set()
        token = ""
        while True:
            query = {"limit": str(_PAGE)} | ({"continue": token} if token else {})
            page = self._plane.api.request("GET", f"/api/v1/pods?{urlencode(query)}")
            found |= {f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in page["items"]}
            token = page["metadata"].get("continue", "")
            if not token:
                return frozenset(found)


def _delete_all(etcd_url: str, prefix: str) -> None:
    start = prefix.encode()
    end = start[:-1] + bytes([start[-1] + 1])
    body = json.dumps({"key": base64.b64encode(start).decode(), "range_end": base64.b64encode(end).decode()})
    answer = urllib3.request("POST", f"{etcd_url}/v3/kv/deleterange", body=body, timeout=60)
    if answer.status != 200:
        raise OSError(f"etcd answers {answer.status}: {answer.data[:500]!r}")

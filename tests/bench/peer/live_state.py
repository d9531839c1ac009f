"""Puts a cluster behind a running API server, and back to what it was, by writing to etcd."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from functools import partial
from urllib.parse import urlencode

import urllib3

from tests.e2e.cluster_fill import fill
from tests.e2e.control_plane import ControlPlane
from tests.e2e.kube_api import ApiError, Object, wait_until

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
_NOT_CAUGHT_UP = 504


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
        self._write(self._objects)

    def restore(self) -> None:
        """Brings back evicted pods, and budgets as they were."""
        self._write(self._changing)

    def pods(self) -> frozenset[str]:
        """`namespace/name` of all pods that are there now."""
        found: set[str] = set()
        token = ""
        while True:
            query = {"limit": str(_PAGE)} | ({"continue": token} if token else {})
            page = wait_until("the API server has caught up with etcd", partial(self._page, query))
            found |= {f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in page["items"]}
            token = page["metadata"].get("continue", "")
            if not token:
                return frozenset(found)

    def _write(self, objects: Sequence[Object]) -> None:
        fill(self._plane.etcd_url, objects)
        # An API server believes to have all of a revision with its first event, and objects written together are one
        # revision. One more of each kind, alone, and whoever sees it has seen the others.
        for last in {obj["kind"]: obj for obj in objects}.values():
            fill(self._plane.etcd_url, [last])

    def _page(self, query: Mapping[str, str]) -> Object | None:
        try:
            return self._plane.api.request("GET", f"/api/v1/pods?{urlencode(query)}")
        except ApiError as error:
            if error.status == _NOT_CAUGHT_UP:
                return None
            raise


def _delete_all(etcd_url: str, prefix: str) -> None:
    start = prefix.encode()
    end = start[:-1] + bytes([start[-1] + 1])
    body = json.dumps({"key": base64.b64encode(start).decode(), "range_end": base64.b64encode(end).decode()})
    answer = urllib3.request("POST", f"{etcd_url}/v3/kv/deleterange", body=body, timeout=60)
    if answer.status != 200:
        raise OSError(f"etcd answers {answer.status}: {answer.data[:500]!r}")

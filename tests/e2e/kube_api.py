"""A small client for the tests' own use: plain HTTP and plain dictionaries.

It shares no code with the product's client, so that a fault of one does not hide in the other.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

import urllib3

Object = dict[str, Any]
Result = TypeVar("Result")

_MERGE_PATCH = "application/merge-patch+json"
_POLL_SECONDS = 0.1


class ApiError(Exception):
    """An answer of 400 or above; `body` is the Status object that came with it."""

    def __init__(self, status: int, body: Object) -> None:
        super().__init__(f"{status} {body.get('reason', '')}: {body.get('message', body)}")
        self.status = status
        self.body = body


@dataclass(frozen=True, slots=True)
class KubeApi:
    """The API server at `url`, spoken to as the bearer of `token`. Methods raise ApiError on 400 and above."""

    url: str
    token: str
    ca_file: Path | None = None
    _pools: dict[str, urllib3.PoolManager] = field(default_factory=dict, init=False, repr=False)

    def request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, content_type: str = "application/json"
    ) -> Object:
        """The decoded answer to one request."""
        answer = self._pool().request(
            method,
            self.url + path,
            body=None if body is None else json.dumps(body),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": content_type},
            retries=False,
        )
        decoded: Object
        try:
            decoded = json.loads(answer.data)
        except ValueError:
            decoded = {"message": answer.data.decode(errors="replace")}
        if answer.status >= 400:
            raise ApiError(answer.status, decoded)
        return decoded

    def is_ready(self) -> bool:
        """Whether the API server says that it is ready."""
        try:
            answer = self._pool().request(
                "GET", f"{self.url}/readyz", headers={"Authorization": f"Bearer {self.token}"}, retries=False, timeout=2
            )
        except (urllib3.exceptions.HTTPError, OSError):
            return False
        return answer.status == 200

    def create(self, obj: Object) -> Object:
        """The object as the server stored it."""
        return self.request("POST", collection_path(obj), obj)

    def get(self, obj: Object) -> Object:
        """The stored object of the same kind, namespace and name as `obj`."""
        return self.request("GET", object_path(obj))

    def find(self, obj: Object) -> Object | None:
        """Like `get`, but None when there is no such object."""
        try:
            return self.get(obj)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def patch(self, obj: Object, change: Mapping[str, Any], *, subresource: str = "") -> Object:
        """The object after a JSON merge patch of it or of its `subresource` ("status", "scale")."""
        path = object_path(obj) + (f"/{subresource}" if subresource else "")
        return self.request("PATCH", path, change, content_type=_MERGE_PATCH)

    def delete(self, obj: Object, *, grace_seconds: int | None = None) -> None:
        """Deletes the object; returns before its finalizers and its grace period are over."""
        query = "" if grace_seconds is None else f"?gracePeriodSeconds={grace_seconds}"
        self.request("DELETE", object_path(obj) + query)

    def items(self, path: str, **query: str) -> list[Object]:
        """The items of the collection at `path`, with `labelSelector` and the like as keywords.

        Each has the API version and kind that lists leave out, so that it can be given back to `get` or `delete`.
        """
        answer = self.request("GET", path + (f"?{urlencode(query)}" if query else ""))
        kind = answer["kind"].removesuffix("List")
        return [{"apiVersion": answer["apiVersion"], "kind": kind, **item} for item in answer["items"]]

    def pods(self, namespace: str, **query: str) -> list[Object]:
        """The pods of a namespace in order of name."""
        return self.items(f"/api/v1/namespaces/{namespace}/pods", **query)

    def events(self, namespace: str) -> list[Object]:
        """The events of a namespace."""
        return self.items(f"/api/v1/namespaces/{namespace}/events")

    def evict(self, pod: Object, *, dry_run: bool = False) -> Object:
        """The answer of the eviction sub-resource; a budget that says no is an ApiError of status 429."""
        meta = {"namespace": pod["metadata"]["namespace"], "name": pod["metadata"]["name"]}
        body: Object = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta}
        if dry_run:
            body["deleteOptions"] = {"dryRun": ["All"]}
        return self.request("POST", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/eviction", body)

    def _pool(self) -> urllib3.PoolManager:
        if "all" not in self._pools:
            self._pools["all"] = urllib3.PoolManager(timeout=30, ca_certs=self.ca_file and str(self.ca_file))
        return self._pools["all"]


def collection_path(obj: Object) -> str:
    """Where objects of this kind and namespace are listed and created."""
    version = obj["apiVersion"]
    prefix = f"/apis/{version}" if "/" in version else f"/api/{version}"
    namespace = obj["metadata"].get("namespace")
    middle = f"/namespaces/{namespace}" if namespace else ""
    return f"{prefix}{middle}/{_plural(obj['kind'])}"


def object_path(obj: Object) -> str:
    """Where this object is read, changed and deleted."""
    return f"{collection_path(obj)}/{obj['metadata']['name']}"


def wait_until(what: str, probe: Callable[[], Result | None], timeout_seconds: float = 180.0) -> Result:
    """The first true answer of `probe`; raises TimeoutError naming `what` when none comes in time."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        answer = probe()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {timeout_seconds:g} s: {what}; last answer: {answer!r}")
        time.sleep(_POLL_SECONDS)


def is_ready(pod: Object) -> bool:
    """Whether the pod says that it is ready."""
    return condition(pod, "Ready") == "True"


def condition(obj: Object, name: str) -> str | None:
    """The status of one condition: "True", "False", "Unknown", or None when it is absent."""
    conditions = obj.get("status", {}).get("conditions") or []  # a new definition has a null there
    found = [each["status"] for each in conditions if each["type"] == name]
    return found[0] if found else None


def _plural(kind: str) -> str:
    singular = kind.lower()
    if singular.endswith("s"):
        return f"{singular}es"
    return f"{singular[:-1]}ies" if singular.endswith("y") else f"{singular}s"

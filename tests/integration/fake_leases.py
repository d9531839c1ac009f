"""Leases as an API server keeps them: created once, replaced only by whoever has seen the newest version."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tests.integration.faults import Answer, failure

__all__ = ["LEASES", "FakeLeases"]

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
"""Where the leases of namespace kube-system are created."""

_MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class FakeLeases:
    """The leases of one server by namespace and name."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], dict[str, Any]] = {}
        self._version = 0

    def put(self, name: str, *, namespace: str = "kube-system", **spec: Any) -> dict[str, Any]:
        """Stores a lease as another client would, and returns it."""
        metadata = {"name": name, "namespace": namespace, "labels": {"kept": "yes"}}
        return self._store({"metadata": metadata, "spec": spec})

    def spec(self, name: str, *, namespace: str = "kube-system") -> dict[str, Any]:
        """What a lease says now."""
        found: dict[str, Any] = self.objects[namespace, name]["spec"]
        return found

    def answer(self, method: str, namespace: str, name: Sequence[str], body: Any) -> Answer:
        """The answer to one request; `name` holds the name if the path does."""
        if method == "POST":
            return self._create(namespace, body)
        found = self.objects.get((namespace, name[0]))
        if found is None:
            return failure(404, "NotFound", f'leases.coordination.k8s.io "{name[0]}" not found')
        if method == "GET":
            return Answer(200, found)
        if body["metadata"].get("resourceVersion") != found["metadata"]["resourceVersion"]:
            return failure(409, "Conflict", "the object has been modified; please apply your changes to the latest")
        return self._checked(body) or Answer(200, self._store(body))

    def _create(self, namespace: str, body: Any) -> Answer:
        if (namespace, body["metadata"]["name"]) in self.objects:
            return failure(409, "AlreadyExists", "the lease already exists")
        return self._checked(body) or Answer(201, self._store(body))

    def _store(self, lease: dict[str, Any]) -> dict[str, Any]:
        self._version += 1
        metadata = lease["metadata"] | {"resourceVersion": str(self._version)}
        stored = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": lease["spec"]}
        self.objects[metadata["namespace"], metadata["name"]] = stored
        return stored

    def _checked(self, body: Any) -> Answer | None:
        """A refusal of what a real server would not take."""
        spec = body["spec"]
        times = [spec[field] for field in ("acquireTime", "renewTime") if field in spec]
        is_valid = spec["leaseDurationSeconds"] > 0 and spec.get("holderIdentity") != ""
        if is_valid and all(_MICRO_TIME.fullmatch(text) for text in times):
            return None
        return failure(422, "Invalid", f"Lease is invalid: {spec}")

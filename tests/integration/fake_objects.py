"""Objects as an API server keeps them: created once, replaced only by whoever has seen the newest version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.integration.faults import Answer, failure

CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"
"""Where the ConfigMaps of namespace kube-system are created."""


class FakeObjects:
    """The objects of one kind by namespace and name."""

    def __init__(self, kind: str, api_version: str, resource: str) -> None:
        self.objects: dict[tuple[str, str], dict[str, Any]] = {}
        self._head = {"apiVersion": api_version, "kind": kind}
        self._resource = resource
        self._version = 0

    def put(self, name: str, *, namespace: str = "kube-system", **content: Any) -> dict[str, Any]:
        """Stores an object as another client would, and returns it."""
        return self._store({"metadata": {"name": name, "namespace": namespace, "labels": {"kept": "yes"}}, **content})

    def answer(self, method: str, namespace: str, name: Sequence[str], body: Any) -> Answer:
        """The answer to one request; `name` holds the name if the path does."""
        if method == "POST":
            return self._create(namespace, body)
        found = self.objects.get((namespace, name[0]))
        if found is None:
            return failure(404, "NotFound", f'{self._resource} "{name[0]}" not found')
        if method == "GET":
            return Answer(200, found)
        if body["metadata"].get("resourceVersion") != found["metadata"]["resourceVersion"]:
            return failure(409, "Conflict", "the object has been modified; please apply your changes to the latest")
        return self.checked(body) or Answer(200, self._store(body))

    def checked(self, body: Any) -> Answer | None:
        """A refusal of what a real server would not take."""
        del body
        return None

    def _create(self, namespace: str, body: Any) -> Answer:
        if (namespace, body["metadata"]["name"]) in self.objects:
            return failure(409, "AlreadyExists", "the object already exists")
        return self.checked(body) or Answer(201, self._store(body))

    def _store(self, stored: dict[str, Any]) -> dict[str, Any]:
        self._version += 1
        metadata = stored["metadata"] | {"resourceVersion": str(self._version)}
        self.objects[metadata["namespace"], metadata["name"]] = stored | self._head | {"metadata": metadata}
        return self.objects[metadata["namespace"], metadata["name"]]

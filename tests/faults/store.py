"""Objects by the path of their list, as an API server keeps them: each change has a version of its own."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from datetime import UTC, datetime

from tests.faults.objects import NOW, Object


class Store:
    """All objects of one cluster. What it gives out is never changed: a change puts another object in its place.

    All methods may be called from any thread; `lock` holds several of them together.
    """

    def __init__(self, objects: dict[str, list[Object]]) -> None:
        self.lock = threading.RLock()
        self._versions = itertools.count(1)
        self._objects: dict[str, dict[str, Object]] = defaultdict(dict)
        for path, items in objects.items():
            for item in items:
                self.put(path, item)

    def items(self, path: str) -> list[Object]:
        """The objects of the list at `path`."""
        with self.lock:
            return list(self._objects[path].values())

    def find(self, path: str, namespace: str, name: str) -> Object | None:
        """The object of this name, "" is the namespace of cluster-wide ones; None where there is none."""
        wanted = (namespace, name)
        for item in self.items(path):
            if (item["metadata"].get("namespace", ""), item["metadata"]["name"]) == wanted:
                return item
        return None

    def get(self, path: str, uid: str) -> Object | None:
        """The object with this UID, None where there is none."""
        with self.lock:
            return self._objects[path].get(uid)

    def put(self, path: str, item: Object) -> Object:
        """Puts the object in the place of the one with its UID, or beside the others; it is returned with its version.

        Objects without a UID cannot be told from others, and get one by their name.
        """
        with self.lock:
            if item["metadata"].get("creationTimestamp") == NOW:
                item = item | {"metadata": item["metadata"] | {"creationTimestamp": now_text()}}
            metadata = {"uid": f"{path}/{item['metadata']['name']}"} | item["metadata"]
            stored = item | {"metadata": metadata | {"resourceVersion": str(next(self._versions))}}
            self._objects[path][metadata["uid"]] = stored
            return stored

    def remove(self, path: str, uid: str) -> bool:
        """Whether the object was there."""
        with self.lock:
            return self._objects[path].pop(uid, None) is not None


def now_text() -> str:
    """The time as objects state it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

"""Leases as an API server keeps them, and a rival that takes one away."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from typing import Any

from tests.faults.faults import Answer, status_body
from tests.faults.history import History, Tenure
from tests.faults.objects import Object
from tests.faults.wire import json_answer

RIVAL = "rival_0"
"""Who takes Leases away."""


class Leases:
    """The Leases of one server. Every change of hands is written to the history."""

    def __init__(self, history: History) -> None:
        self._lock = threading.RLock()
        self._history = history
        self._objects: dict[tuple[str, str], Object] = {}
        self._version = 0
        self._renewed_at = 0.0
        self.holder = ""

    def answer(self, method: str, namespace: str, name: str, body: Any) -> Answer:
        """The answer to one request; `name` is "" for a creation."""
        with self._lock:
            if method == "POST":
                name = body["metadata"]["name"]
                if (namespace, name) in self._objects:
                    return json_answer(409, status_body(409, "AlreadyExists", f'leases "{name}" already exists'))
                return json_answer(201, self._store(namespace, name, body))
            found = self._objects.get((namespace, name))
            if found is None:
                return json_answer(404, status_body(404, "NotFound", f'leases "{name}" not found'))
            if method == "GET":
                return json_answer(200, found)
            if body["metadata"].get("resourceVersion") != found["metadata"]["resourceVersion"]:
                return json_answer(409, status_body(409, "Conflict", "the object has been modified"))
            return json_answer(200, self._store(namespace, name, body))

    def seize(self) -> None:
        """A rival takes every Lease, whether it has run out or not, and holds it for an hour."""
        with self._lock:
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            for (namespace, name), found in list(self._objects.items()):
                old = found["spec"]
                expires_at = self._renewed_at + (old.get("leaseDurationSeconds") or 0)
                has_expired = not old.get("holderIdentity") or time.monotonic() > expires_at
                spec = {"holderIdentity": RIVAL, "leaseDurationSeconds": 3600, "acquireTime": now, "renewTime": now}
                self._store(namespace, name, found | {"spec": spec}, is_seized=True, had_expired=has_expired)

    def delete(self) -> None:
        """Somebody deletes every Lease."""
        with self._lock:
            self._objects.clear()
            self._hand_to("", is_seized=True)

    def _store(
        self, namespace: str, name: str, lease: Object, *, is_seized: bool = False, had_expired: bool = False
    ) -> Object:
        self._version += 1
        metadata = lease["metadata"] | {"name": name, "namespace": namespace, "resourceVersion": str(self._version)}
        stored = lease | {"metadata": metadata}
        self._objects[namespace, name] = stored
        self._renewed_at = time.monotonic()
        self._hand_to(stored["spec"].get("holderIdentity") or "", is_seized=is_seized, had_expired=had_expired)
        return stored

    def _hand_to(self, holder: str, *, is_seized: bool = False, had_expired: bool = False) -> None:
        if holder != self.holder or is_seized:
            self.holder = holder
            self._history.tenures.append(Tenure(time.monotonic(), holder, is_seized, had_expired))

"""The true state of the cluster: who runs where, what budgets allow, and which pod left when and why."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tests.faults.faults import Answer, status_body
from tests.faults.history import Effect, History
from tests.faults.objects import Object, successor
from tests.faults.store import Store, now_text
from tests.faults.timers import Timers
from tests.faults.wire import json_answer

_PODS = "/api/v1/pods"
_BUDGETS = "/apis/policy/v1/poddisruptionbudgets"


class ClusterState:
    """Pods, budgets and the other objects of one cluster. Evictions that take effect are written to the history.

    Evicted pods are terminating for `grace_seconds`; then their owner's new pod is there, at once. All methods may be
    called from any thread.
    """

    def __init__(
        self, objects: dict[str, list[Object]], history: History, timers: Timers, *, grace_seconds: float
    ) -> None:
        self.store = Store(objects)
        self.lock = self.store.lock
        self.on_arrival: Callable[[Object], None] = lambda pod: None
        """Called with each pod that comes in place of another."""
        self._history = history
        self._timers = timers
        self._grace_seconds = grace_seconds
        for item in self.store.items(_BUDGETS):
            history.budgets[self._budget_key(item)] = item["status"]["disruptionsAllowed"]

    def items(self, path: str) -> list[Object]:
        """The objects of the list at `path` as they are now."""
        return self.store.items(path)

    def find(self, path: str, namespace: str, name: str) -> Object | None:
        """The object, or None."""
        return self.store.find(path, namespace, name)

    def wanted_uid(self, namespace: str, name: str, body: Any) -> str:
        """The uid that an eviction is about: that of its precondition, else that of the pod with this name."""
        options = (body or {}).get("deleteOptions") or {}
        uid = (options.get("preconditions") or {}).get("uid")
        if uid:
            return str(uid)
        found = self.find(_PODS, namespace, name)
        return found["metadata"]["uid"] if found else ""

    def evict(self, namespace: str, name: str, body: Any, *, run: int, at: float | None = None) -> Answer:
        """Evicts as the API does: 404, 409, 429, 500 or 201. `at` is given for a call that takes effect late."""
        with self.lock:
            found = self.find(_PODS, namespace, name)
            if found is None:
                return json_answer(404, status_body(404, "NotFound", f'pods "{name}" not found'))
            uid = found["metadata"]["uid"]
            if self.wanted_uid(namespace, name, body) != uid:
                text = f"Precondition failed: UID in precondition does not match that of pod {name}"
                return json_answer(409, status_body(409, "Conflict", text))
            is_dry = ((body or {}).get("deleteOptions") or {}).get("dryRun") == ["All"]
            if "deletionTimestamp" not in found["metadata"]:
                budgets = self._budgets_of(found)
                refusal = self._refusal(budgets)
                if refusal is not None:
                    return refusal
                if not is_dry:
                    self._take(found, budgets, run=run, at=at)
            return json_answer(201, {"kind": "Status", "apiVersion": "v1", "status": "Success", "code": 201})

    def delete_by_other(self, uid: str) -> None:
        """Somebody else deletes the pod."""
        with self.lock:
            for found in self.items(_PODS):
                if found["metadata"]["uid"] == uid and "deletionTimestamp" not in found["metadata"]:
                    self._history.departed.add(uid)
                    self._replace(found)
                    return

    def _budgets_of(self, found: Object) -> list[Object]:
        metadata = found["metadata"]
        return [
            item
            for item in self.items(_BUDGETS)
            if item["metadata"]["namespace"] == metadata["namespace"]
            and item["spec"]["selector"]["matchLabels"].items() <= metadata["labels"].items()
        ]

    def _refusal(self, budgets: list[Object]) -> Answer | None:
        if len(budgets) > 1:
            text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
            return json_answer(500, status_body(500, "", text))
        if not budgets or budgets[0]["status"]["disruptionsAllowed"] > 0:
            return None
        name = budgets[0]["metadata"]["name"]
        cause = f"The disruption budget {name} needs 9 healthy pods and has 9 currently"
        text = "Cannot evict pod as it would violate the pod's disruption budget."
        return json_answer(429, status_body(429, "TooManyRequests", text, cause=cause))

    def _take(self, found: Object, budgets: list[Object], *, run: int, at: float | None) -> None:
        metadata = found["metadata"]
        for item in budgets:
            status = item["status"] | {"disruptionsAllowed": item["status"]["disruptionsAllowed"] - 1}
            self.store.put(_BUDGETS, item | {"status": status})
        self._history.effects.append(
            Effect(
                at=time.monotonic() if at is None else at,
                run=run,
                uid=metadata["uid"],
                pod=metadata["name"],
                namespace=metadata["namespace"],
                node=found["spec"].get("nodeName", ""),
                is_late=at is not None,
                budget=self._budget_key(budgets[0]) if budgets else "",
            )
        )
        if not self._grace_seconds:
            self._replace(found)
            return
        leaving = self.store.put(_PODS, found | {"metadata": metadata | {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
        self._timers.after(self._grace_seconds, lambda _: self._replace(leaving), is_fact=False)

    def _replace(self, found: Object) -> None:
        """The pod is gone; its owner, if any, creates another one."""
        with self.lock:
            if self.store.remove(_PODS, found["metadata"]["uid"]) and "ownerReferences" in found["metadata"]:
                self.on_arrival(self.store.put(_PODS, successor(found, now_text())))

    @staticmethod
    def _budget_key(item: Object) -> str:
        return f"{item['metadata']['namespace']}/{item['metadata']['name']}"

"""Single objects over the API: read, created, changed and deleted, each change noted with whose object it was."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any

from tests.faults.faults import Answer, status_body
from tests.faults.history import History, Request, Write
from tests.faults.objects import Object
from tests.faults.rooms.kinds import CREATED_BY, JOBS, PODS, PRIORITY_CLASSES, RESERVATIONS, Target, object_path
from tests.faults.store import Store, now_text
from tests.faults.wire import json_answer

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_WAITS_OR_RUNS = ("", "Pending", "Running")


@dataclass(frozen=True, slots=True)
class Made:
    """The call that created an object: of which run, and whether it took effect late."""

    run: int
    is_late: bool


class ObjectApi:
    """The calls for pods, ConfigMaps, PodMigrationJobs and Reservations, but for evictions and lists.

    `made` tells who created what: UIDs of the objects of the program. `on_created` is called with each of them.
    `claimed` are UIDs of objects that an earlier run of the program may have created, by all that is to be seen.
    """

    def __init__(self, store: Store, history: History, claimed: Set[str] = frozenset()) -> None:
        self.made: dict[str, Made] = {}
        self.on_created: Callable[[str, Object], None] = lambda path, item: None
        self._store = store
        self._history = history
        self._claimed = claimed
        self._draw = random.Random(f"uids {history.seed}")

    def answer(self, request: Request, target: Target, body: Any, *, at: float | None = None) -> Answer:
        """Carries a request out; `at` is the time of one that takes effect late."""
        with self._store.lock:
            if request.method == "POST" and not target.name:
                return self._create(request, target, body, at)
            found = self._store.find(target.list_path, target.namespace, target.name)
            if found is None:
                kind = target.list_path.rpartition("/")[2]
                return json_answer(404, status_body(404, "NotFound", f'{kind} "{target.name}" not found'))
            if request.method == "GET":
                return json_answer(200, found)
            if (conflict := _conflict(request.method, found, body)) is not None:
                return conflict
            self._note(request, target, found, at)
            if request.method == "DELETE":
                self._store.remove(target.list_path, found["metadata"]["uid"])
                return json_answer(200, {"kind": "Status", "apiVersion": "v1", "status": "Success"})
            changed = body if request.method == "PUT" else _merged(found, _of_subresource(target, body))
            return json_answer(200, self._store.put(target.list_path, _kept(changed, found)))

    def _create(self, request: Request, target: Target, body: Any, at: float | None) -> Answer:
        name = body["metadata"]["name"]
        if self._store.find(target.list_path, target.namespace, name) is not None:
            return json_answer(409, status_body(409, "AlreadyExists", f'"{name}" already exists'))
        # Of a kind that has a status nothing is taken over but its own part.
        given = {key: part for key, part in body.items() if key != "status" or target.list_path not in (JOBS, PODS)}
        born = {"uid": self._new_uid(), "creationTimestamp": now_text()}
        scope = {"namespace": target.namespace} if target.namespace else {}
        item = _admitted(self._store, target.list_path, given | {"metadata": body["metadata"] | born | scope})
        stored = self._store.put(target.list_path, item)
        self.made[stored["metadata"]["uid"]] = Made(request.run, at is not None)
        self._note(request, target, stored, at)
        self.on_created(target.list_path, stored)
        return json_answer(201, stored)

    def _new_uid(self) -> str:
        return str(uuid.UUID(int=self._draw.getrandbits(128), version=4))

    def _note(self, request: Request, target: Target, found: Object, at: float | None) -> None:
        metadata = found["metadata"]
        self._history.writes.append(
            Write(
                at=time.monotonic() if at is None else at,
                run=request.run,
                verb=_VERBS[request.method],
                path=object_path(target.list_path, target.namespace, metadata["name"]),
                uid=metadata["uid"],
                whose=self._whose(target.list_path, found),
                is_late=at is not None,
            )
        )

    def _whose(self, path: str, found: Object) -> str:
        if found["metadata"]["uid"] in self._claimed or found["metadata"]["uid"] in self.made:
            return "ours"
        is_claimed = CREATED_BY in (found["metadata"].get("annotations") or {})
        return "open" if path == JOBS and not is_claimed and is_open(found) else "others"


def is_open(job: Object) -> bool:
    """Whether a job waits or is under way. One that is paused is judged too, and fails if it is refused.

    So does one whose phase is not text: it says nothing of an end, and fails as invalid.
    """
    phase = (job.get("status") or {}).get("phase", "")
    return not isinstance(phase, str) or phase in _WAITS_OR_RUNS


def _conflict(method: str, found: Object, body: Any) -> Answer | None:
    """The refusal of a change whose preconditions do not hold, None for one that may be made."""
    stated: Object = (body or {}).get("metadata") or {}
    if method == "DELETE":
        stated = (body or {}).get("preconditions") or {}
    for field in ("uid", "resourceVersion"):
        if stated.get(field) not in (None, found["metadata"][field]):
            return json_answer(409, status_body(409, "Conflict", f"the {field} in the precondition does not match"))
    return None


def _of_subresource(target: Target, body: Any) -> Any:
    if target.is_status:
        return {key: part for key, part in body.items() if key in ("metadata", "status")}
    has_status = target.list_path in (JOBS, RESERVATIONS)
    return {key: part for key, part in body.items() if not (has_status and key == "status")}


def _kept(changed: Object, found: Object) -> Object:
    """`changed` with what no client can change."""
    own = {field: found["metadata"][field] for field in ("uid", "name")}
    return changed | {"metadata": changed["metadata"] | own}


def _merged(found: Any, patch: Any) -> Any:
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(found) if isinstance(found, dict) else {}
    for key, part in patch.items():
        if part is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), part)
    return merged


def _admitted(store: Store, path: str, item: Object) -> Object:
    """What defaults and admission make of a new object: a pod gets the number of its class, and what most pods get."""
    if path != PODS:
        return item | ({"status": {}} if path in (JOBS, RESERVATIONS) else {})
    spec: Object = item["spec"]
    named = store.find(PRIORITY_CLASSES, "", spec.get("priorityClassName", "")) or {"value": 0}
    tolerations = [
        {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for what in ("not-ready", "unreachable")
    ]
    containers = [
        {"imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log"} | each
        for each in spec["containers"]
    ]
    defaults = {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "serviceAccountName": "default"}
    number = {"priority": named["value"], "preemptionPolicy": named.get("preemptionPolicy", "PreemptLowerPriority")}
    stated = defaults | spec | number | {"containers": containers}
    stated["tolerations"] = [*(spec.get("tolerations") or ()), *tolerations]
    return item | {"spec": stated, "status": {"phase": "Pending"}}

"""What an API server answers when nothing goes wrong."""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Mapping, Set
from typing import Any

from tests.faults.faults import Answer, Requests, status_body
from tests.faults.history import History, Page, Request
from tests.faults.leases import Leases
from tests.faults.objects import PATHS, Object
from tests.faults.rooms.kinds import CRD_PATHS, GROUP, PODS, Target, target_of
from tests.faults.rooms.requests import kind_of_target
from tests.faults.rooms.selectors import is_selected
from tests.faults.rooms.writing import ObjectApi
from tests.faults.state import ClusterState
from tests.faults.wire import json_answer

PROMETHEUS_PREFIX = "/prometheus"
"""Where the same server is a Prometheus server too."""

_EVICTION = re.compile(r"/api/v1/namespaces/([^/]+)/pods/([^/]+)/eviction")
_SECRET = re.compile(r"/api/v1/namespaces/([^/]+)/secrets/([^/]+)")
_LEASES = re.compile(r"/apis/coordination\.k8s\.io/v1/namespaces/([^/]+)/leases/?([^/]*)")
_EVENTS = re.compile(r"/apis/events\.k8s\.io/v1/namespaces/[^/]+/events")
_GROUPS = {"policy": "policy/v1", "events.k8s.io": "events.k8s.io/v1", "apps": "apps/v1"}
_NOT_FOUND = json_answer(404, status_body(404, "NotFound", "the server could not find the requested resource"))


def kind_of_request(method: str, path: str, body: Any) -> Requests:
    """What faults are drawn by."""
    if path.startswith(PROMETHEUS_PREFIX):
        return Requests.PROMETHEUS
    for pattern, kind in (
        (_EVICTION, Requests.EVICTION),
        (_SECRET, Requests.SECRET),
        (_LEASES, Requests.LEASE),
        (_EVENTS, Requests.EVENT),
    ):
        if pattern.fullmatch(path):
            return kind
    if (target := target_of(path)) is not None and (target.name or method != "GET"):
        return kind_of_target(method, target, body)
    is_list = target is not None or path in PATHS or path.startswith("/apis/metrics")
    return Requests.LIST if is_list else Requests.DISCOVERY


class Answers:
    """Answers from the true state. Lists come in pages of at most `page_size`, as a server may choose to."""

    def __init__(
        self,
        state: ClusterState,
        leases: Leases,
        history: History,
        *,
        page_size: int,
        secrets: Mapping[str, str],
        usage: Mapping[str, float],
        has_jobs: bool = False,
        claimed: Set[str] = frozenset(),
    ) -> None:
        self._state = state
        self._leases = leases
        self._history = history
        self._page_size = page_size
        self._secrets = secrets
        self._usage = usage
        self._crd_paths = CRD_PATHS if has_jobs else {}
        self.objects = ObjectApi(state.store, history, claimed)
        self._lock = threading.Lock()
        self._lists: list[list[Object]] = []

    def answer(self, request: Request, query: Mapping[str, str], body: Any, *, at: float | None = None) -> Answer:
        """The honest answer; a write is carried out, at the time `at` where it takes effect late."""
        path, method = request.path, request.method
        if match := _EVICTION.fullmatch(path):
            return self._state.evict(match[1], match[2], body, run=request.run, at=at)
        if (target := self._served(path)) is not None and (target.name or method != "GET"):
            return self.objects.answer(request, target, body, at=at)
        if match := _SECRET.fullmatch(path):
            return self._secret(match[2])
        if match := _LEASES.fullmatch(path):
            return self._leases.answer(method, match[1], match[2], body)
        if _EVENTS.fullmatch(path):
            self._history.events.append(json.dumps(body))
            return json_answer(201, body)
        if path.startswith(PROMETHEUS_PREFIX):
            return self._prometheus()
        if target is not None or path in PATHS:
            return self._list(request, target or Target(path), query)
        return self._discovery(path)

    def _served(self, path: str) -> Target | None:
        target = target_of(path)
        is_absent = target is None or (target.list_path in CRD_PATHS and target.list_path not in self._crd_paths)
        return None if is_absent else target

    def evicted_uid(self, path: str, body: Any) -> str:
        """The uid of the pod that an eviction is about."""
        match = _EVICTION.fullmatch(path)
        return self._state.wanted_uid(match[1], match[2], body) if match else ""

    def _discovery(self, path: str) -> Answer:
        if path == "/version":
            return json_answer(200, {"major": "1", "minor": "33", "gitVersion": "v1.33.1"})
        if path == "/api/v1":
            resources = [{"name": "pods", "kind": "Pod"}, {"name": "pods/eviction", "kind": "Eviction"}]
            return json_answer(200, {"kind": "APIResourceList", "groupVersion": "v1", "resources": resources})
        if path == "/apis":
            groups_of = _GROUPS | ({GROUP: f"{GROUP}/v1alpha1"} if self._crd_paths else {})
            groups = [
                {"name": name, "versions": [], "preferredVersion": {"groupVersion": version}}
                for name, version in groups_of.items()
            ]
            return json_answer(200, {"kind": "APIGroupList", "groups": groups})
        if path == f"/apis/{GROUP}/v1alpha1" and self._crd_paths:
            resources = [{"name": at.rpartition("/")[2], "kind": kind} for at, kind in self._crd_paths.items()]
            return json_answer(200, {"kind": "APIResourceList", "groupVersion": path[6:], "resources": resources})
        return _NOT_FOUND

    def _secret(self, name: str) -> Answer:
        if name not in self._secrets:
            return _missing("secrets", name)
        data = {"prometheusAuthToken": base64.b64encode(self._secrets[name].encode()).decode()}
        return json_answer(200, {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": name}, "data": data})

    def _prometheus(self) -> Answer:
        result = [{"metric": {"instance": node}, "value": [1.0, str(ratio)]} for node, ratio in self._usage.items()]
        return json_answer(200, {"status": "success", "data": {"resultType": "vector", "result": result}})

    def _list(self, request: Request, target: Target, query: Mapping[str, str]) -> Answer:
        with self._lock:
            if token := query.get("continue"):
                number, start = (int(part) for part in token.split("."))
            else:
                found = self._state.items(target.list_path)
                in_place = (item for item in found if target.namespace in ("", item["metadata"].get("namespace")))
                self._lists.append([item for item in in_place if is_selected(item, query)])
                number, start = len(self._lists) - 1, 0
            items = self._lists[number]
        end = start + min(int(query.get("limit") or 500), self._page_size)
        if target.list_path == PODS:
            told = self._history.listed.setdefault(request.run, set())
            told.update(item["metadata"]["uid"] for item in items[start:end])
        metadata = {"resourceVersion": str(1000 + number)}
        is_last = end >= len(items)
        if not is_last:
            metadata["continue"] = f"{number}.{end}"
        if not query.get("fieldSelector"):  # what decisions rest on is read whole
            request.page = Page(number, start, is_last)
        kind = {**PATHS, **CRD_PATHS, "/api/v1/configmaps": "ConfigMap"}[target.list_path]
        return json_answer(
            200, {"kind": f"{kind}List", "apiVersion": "v1", "metadata": metadata, "items": items[start:end]}
        )


def _missing(kind: str, name: str) -> Answer:
    return json_answer(404, status_body(404, "NotFound", f'{kind} "{name}" not found'))

"""A Kubernetes API server on loopback for tests: lists, evictions, events, leases, discovery, usage; and faults.

Objects are plain dicts under the path of their list, such as `/api/v1/pods`. Every request is recorded.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from descheduler.cluster.kinds import KINDS
from tests.certificates import Certificate
from tests.cluster.messages.writer import proto_list
from tests.integration.fake_leases import FakeLeases
from tests.integration.fake_objects import FakeObjects
from tests.integration.faults import (
    Answer,
    BrokenGzip,
    Drip,
    Drop,
    EvictLate,
    EvictThenAnswer,
    EvictThenClearText,
    EvictThenDrop,
    Fault,
    RawAnswer,
    Silence,
    Truncate,
    failure,
)
from tests.living.api.tables import node_table
from tests.loopback import Exchange, Listener, write_kubeconfig
from tests.writes.recorder import RECORDER

_PODS = "/api/v1/pods"
_PROTOBUF = "application/vnd.kubernetes.protobuf"


@dataclass(frozen=True)
class Request:
    """One request as it arrived; header names in lower case, `body` decoded JSON, else text, else None."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


class FakeApi:
    """The server's state and its switches; a context manager that serves until it is left."""

    def __init__(self, *, token: str | None = None, certificate: Certificate | None = None) -> None:
        self.token = token
        self.certificate = certificate
        """What it proves itself with over https; None serves plain http."""
        self.resource_version = 1000
        self.requests: list[Request] = []
        self.leases = FakeLeases()
        self.config_maps = FakeObjects("ConfigMap", "v1", "configmaps")
        self.objects: dict[str, list[dict[str, Any]]] = {_PODS: [], "/api/v1/nodes": []}
        self.groups = {"policy": "policy/v1", "events.k8s.io": "events.k8s.io/v1"}
        self.core_resources = [{"name": "pods", "kind": "Pod"}, {"name": "pods/eviction", "kind": "Eviction"}]
        self.git_version = "v1.36.0"
        self.kinds = KINDS
        """The kinds whose lists it knows the names of."""
        self.speaks_protobuf = True
        """Whether pods and nodes are sent in protobuf to those who ask for it."""
        self.expired_continues = 0
        """How many of the next requests with a continue token are answered with 410."""
        self.terminate_only = False
        """Whether an evicted pod stays with a deletion time stamp instead of vanishing."""
        self.prometheus: Any = {"status": "success", "data": {"resultType": "vector", "result": []}}
        self.on_request: Callable[[Request], None] = lambda request: None
        """Called with each request before it is answered."""
        self._faults: dict[tuple[str, str], deque[Fault]] = defaultdict(deque)
        self._standing: dict[tuple[str, str], Fault] = {}
        self._snapshots: dict[str, list[dict[str, Any]]] = {}
        self._lock = threading.RLock()
        self.is_closing = threading.Event()
        """Set when the server ends, so that answers which are held back end as well."""
        self._listener = Listener(_Exchange, self, certificate.server_context() if certificate else None)

    def __enter__(self) -> FakeApi:
        self._listener.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self.is_closing.set()
        self._listener.__exit__(*raised)

    @property
    def url(self) -> str:
        """The server's base URL."""
        return self._listener.url

    def add(self, path: str, *objects: dict[str, Any]) -> None:
        """Adds objects to the list at `path`."""
        self.objects.setdefault(path, []).extend(objects)

    def add_pod(self, name: str, *, namespace: str = "shop", uid: str = "", node: str = "n1") -> dict[str, Any]:
        """Adds a running pod with uid `uid-<name>` unless another is given, and returns it."""
        metadata = {"name": name, "namespace": namespace, "uid": uid or f"uid-{name}"}
        pod = {"metadata": metadata, "spec": {"nodeName": node}, "status": {"phase": "Running"}}
        self.add(_PODS, pod)
        return pod

    def pods(self) -> list[str]:
        """Names of the pods that are there, in order."""
        return [pod["metadata"]["name"] for pod in self.objects[_PODS]]

    def fail_next(self, method: str, path: str, *faults: Fault) -> None:
        """Lets the next requests of this method and path end in these faults, one each."""
        self._faults[method, path].extend(faults)

    def fail_always(self, method: str, path: str, fault: Fault) -> None:
        """Lets every request of this method and path end in this fault."""
        self._standing[method, path] = fault

    def on_eviction(self, name: str, *faults: Fault, namespace: str = "shop") -> None:
        """Lets the next evictions of the pod end in these faults, one each."""
        self.fail_next("POST", f"/api/v1/namespaces/{namespace}/pods/{name}/eviction", *faults)

    def sent(self, method: str, ending: str = "") -> list[Request]:
        """The requests of this method whose path ends so, in order of arrival."""
        return [request for request in self.requests if request.method == method and request.path.endswith(ending)]

    def write_kubeconfig(self, file: Path, *, token: str | None = None) -> Path:
        """Writes a kubeconfig for this server and returns its path."""
        shown = token or self.token
        authority = self.certificate.file if self.certificate else None
        return write_kubeconfig(file, self.url, {"token": shown} if shown else {}, authority=authority)

    def respond(self, request: Request) -> tuple[Answer, Fault | None]:
        """The answer to a request, and the fault that changes how it is sent, if any."""
        with self._lock:
            self.requests.append(request)
            before = self._route(replace(request, method="GET")).body if request.method == "PUT" else None
            RECORDER.note(request.method, request.path, request.body, before=before)
            self.on_request(request)
            if self.token and request.headers.get("authorization") != f"Bearer {self.token}":
                return failure(401, "Unauthorized", "Unauthorized"), None
            key = request.method, request.path
            fault = self._faults[key].popleft() if self._faults[key] else self._standing.get(key)
            if isinstance(fault, Answer):
                return fault, None
            if isinstance(fault, Drop | EvictLate | RawAnswer):
                return Answer(0, None), fault
            answer = self._route(request)
            return (fault.answer, None) if isinstance(fault, EvictThenAnswer) else (answer, fault)

    def respond_late(self, request: Request) -> Answer:
        """The answer to a request that was recorded before."""
        with self._lock:
            return self._route(request)

    def _route(self, request: Request) -> Answer:
        parts = request.path.strip("/").split("/")
        match request.method, parts:
            case (("GET" | "POST"), ["api", "v1", "query"]):
                return Answer(200, self.prometheus)
            case "GET", ["version"]:
                return Answer(200, {"major": "1", "minor": "36", "gitVersion": self.git_version})
            case "GET", ["api"]:
                return Answer(200, {"kind": "APIVersions", "versions": ["v1"]})
            case "GET", ["api", "v1"]:
                return Answer(200, {"kind": "APIResourceList", "groupVersion": "v1", "resources": self.core_resources})
            case "GET", ["apis"]:
                return Answer(200, self._group_list())
            case "GET", ["apis", group, version] if self.groups.get(group) == f"{group}/{version}":
                return Answer(200, {"kind": "APIResourceList", "groupVersion": f"{group}/{version}", "resources": []})
            case "POST", ["api", "v1", "namespaces", namespace, "pods", name, "eviction"]:
                return self._evict(namespace, name, request.body)
            case "POST", ["apis", "events.k8s.io", "v1", "namespaces", _, "events"]:
                if not _NAME.fullmatch(request.body["metadata"].get("name", "")):
                    return failure(422, "Invalid", "metadata.name: Invalid value: a lowercase RFC 1123 subdomain")
                self.add("/apis/events.k8s.io/v1/events", request.body)
                return Answer(201, request.body)
            case method, ["apis", "coordination.k8s.io", "v1", "namespaces", namespace, "leases", *name]:
                return self.leases.answer(method, namespace, name, request.body)
            case method, ["api", "v1", "namespaces", namespace, "configmaps", *name]:
                return self.config_maps.answer(method, namespace, name, request.body)
            case "GET", ["api", "v1", "namespaces", namespace, kind, name]:
                return self._get(f"/api/v1/{kind}", namespace, name)
            case "GET", _ if request.path in self.objects:
                return self._list(request)
            case _:
                return failure(404, "NotFound", "the server could not find the requested resource")

    def _group_list(self) -> dict[str, Any]:
        groups = [
            {"name": name, "versions": [], "preferredVersion": {"groupVersion": version}}
            for name, version in self.groups.items()
        ]
        return {"kind": "APIGroupList", "groups": groups}

    def _get(self, path: str, namespace: str, name: str) -> Answer:
        found = self._find(path, namespace, name)
        return Answer(200, found) if found is not None else failure(404, "NotFound", f'"{name}" not found')

    def _find(self, path: str, namespace: str, name: str) -> dict[str, Any] | None:
        wanted = (namespace, name)
        for candidate in self.objects.get(path, ()):
            if (candidate["metadata"].get("namespace"), candidate["metadata"]["name"]) == wanted:
                return candidate
        return None

    def _list(self, request: Request) -> Answer:
        start = 0
        if token := request.query.get("continue"):
            if self.expired_continues > 0:
                self.expired_continues -= 1
                return failure(410, "Expired", "The provided continue parameter is too old")
            if "resourceVersion" in request.query:
                return failure(400, "BadRequest", "specifying resource version is not allowed when using continue")
            version, start = json.loads(base64.b64decode(token))
        else:
            version = str(self.resource_version)
            self._snapshots[request.path + version] = list(self.objects[request.path])
        items = [item for item in self._snapshots[request.path + version] if _is_selected(item, request)]
        end = start + int(request.query.get("limit") or len(items) or 1)
        metadata = {"resourceVersion": version}
        if end < len(items):
            metadata["continue"] = base64.b64encode(json.dumps([version, end]).encode()).decode()
        served = (each for kind in self.kinds.values() for each in (kind, *kind.in_older_versions))
        kind = next((f"{each.name}List" for each in served if each.path == request.path), "List")
        stated = {"kind": kind, "apiVersion": api_version(request.path)}
        if self.speaks_protobuf and _wants_protobuf(request) and kind in ("PodList", "NodeList"):
            with suppress(ValueError, TypeError, AttributeError, KeyError):  # objects that have no place in messages
                item_kind = kind.removesuffix("List")
                more = str(metadata.get("continue", ""))
                body = proto_list(item_kind, items[start:end], version=version, more=more)
                return Answer(200, body, {"Content-Type": _PROTOBUF})
        if "as=Table;" in request.headers.get("accept", "") and kind == "NodeList":
            return Answer(200, node_table(items[start:end], metadata))
        return Answer(200, {**stated, "metadata": metadata, "items": items[start:end]})

    def _evict(self, namespace: str, name: str, body: dict[str, Any]) -> Answer:
        pod = self._find(_PODS, namespace, name)
        if pod is None:
            return failure(404, "NotFound", f'pods "{name}" not found')
        options = body.get("deleteOptions") or {}
        wanted = (options.get("preconditions") or {}).get("uid")
        if wanted not in (None, pod["metadata"]["uid"]):
            return failure(409, "Conflict", "the UID in the precondition does not match the UID in record")
        if options.get("dryRun") != ["All"]:
            self.resource_version += 1
            if self.terminate_only:
                pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            else:
                self.objects[_PODS].remove(pod)
        return Answer(201, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})


def _is_selected(item: dict[str, Any], request: Request) -> bool:
    """Whether `item` has what the field selector wants, such as `spec.nodeName=n1`."""
    for wanted in filter(None, request.query.get("fieldSelector", "").split(",")):
        path, _, value = wanted.partition("=")
        part, name = path.split(".")
        if item.get(part, {}).get(name, "") != value:
            return False
    return True


def _wants_protobuf(request: Request) -> bool:
    return request.headers.get("accept", "").startswith(_PROTOBUF)


def api_version(path: str) -> str:
    """The group and version that a path belongs to, as objects state them."""
    _, root, *rest = path.split("/")
    return rest[0] if root == "api" else f"{rest[0]}/{rest[1]}"


class _Exchange(Exchange[FakeApi]):
    def answer(self, body: bytes) -> None:
        target = self.target
        request = Request(
            method=self.command,
            path=target.path,
            query={name: texts[-1] for name, texts in parse_qs(target.query).items()},
            body=_decode(body),
            headers={name.lower(): text for name, text in self.headers.items()},
        )
        answer, fault = self.owner.respond(request)
        if isinstance(fault, EvictThenClearText):
            os.write(self.connection.fileno(), b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            self.close_connection = True
            return
        if isinstance(fault, EvictLate):
            time.sleep(fault.seconds)
            answer = self.owner.respond_late(request)
        if isinstance(fault, Silence):
            self.owner.is_closing.wait()
            self.close_connection = True
            return
        if isinstance(fault, Drop | EvictThenDrop):
            self.close_connection = True
            return
        if isinstance(fault, RawAnswer):
            self._send_raw(fault)
            return
        self._send(answer, fault)

    def _send_raw(self, fault: RawAnswer) -> None:
        self.close_connection = True
        with suppress(OSError):  # the client has had enough
            for part in fault.parts():
                self.wfile.write(part)
                time.sleep(fault.pause_seconds)

    def _send(self, answer: Answer, fault: Fault | None) -> None:
        body = json.dumps(answer.body).encode() if not isinstance(answer.body, bytes) else answer.body
        self.send_response(answer.status_code)
        if "Content-Type" not in answer.headers:
            self.send_header("Content-Type", "application/json")
        if isinstance(fault, BrokenGzip):
            self.send_header("Content-Encoding", "gzip")
        elif "gzip" in self.headers.get("Accept-Encoding", "") and not isinstance(fault, Truncate):
            body = gzip.compress(body, compresslevel=1)
            self.send_header("Content-Encoding", "gzip")
        for name, text in answer.headers.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if isinstance(fault, Truncate):
            body = body[: fault.keep_bytes]
            self.close_connection = True
        if isinstance(fault, Drip):
            self._drip(body, fault.pause_seconds)
            return
        self.wfile.write(body)

    def _drip(self, body: bytes, pause_seconds: float) -> None:
        with suppress(OSError):  # the client has lost its patience
            for position in range(len(body)):
                self.wfile.write(body[position : position + 1])
                if self.owner.is_closing.wait(pause_seconds):
                    return


def _decode(raw: bytes) -> Any:
    if not raw:
        return None
    try:
        return json.loads(raw)
    except ValueError:
        return raw.decode()

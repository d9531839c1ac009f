"""The API server: every request is numbered, takes its time, and is answered from the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from tests.faults.faults import Answer
from tests.faults.wire import json_answer
from tests.living.api.discovery import discovered
from tests.living.api.evictions import evict
from tests.living.api.lists import listed
from tests.living.api.refusal import Refused
from tests.living.api.request import Request, Target, target_of
from tests.living.api.scales import HAVE_SCALE, patch_scale, scale_of
from tests.living.api.watches import watched
from tests.living.api.writes import bind, create, delete, existing, patch, update
from tests.living.store import Object, Store
from tests.writes.recorder import RECORDER

_REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@dataclass(frozen=True, slots=True)
class Call:
    """One request that came, its number from 1, when it came, and the status that its answer has (0: none yet)."""

    number: int
    request: Request
    at: float
    code: int = 0

    @property
    def subject(self) -> str:
        """Method and path."""
        return f"{self.request.method} {self.request.path}"


class LivingApi:
    """`absent` are API groups that are not served; `latency_seconds` is the time that a request takes."""

    def __init__(self, store: Store, *, absent: frozenset[str] = frozenset(), latency_seconds: float = 0.01) -> None:
        self.store = store
        self.absent = absent
        self.latency_seconds = latency_seconds
        self.calls: list[Call] = []
        self.delivered: dict[int, int] = {}
        """Number of a call → the status that has reached who sent it; what got lost on the way is not there."""
        self.before_call: list[Callable[[Call], None]] = []
        """Called with each request when it has come and before it has any effect."""
        self.after_call: list[Callable[[Call, Answer], None]] = []
        """Called with each request and its honest answer when it was carried out."""
        self.mutating: list[Callable[[Object], None]] = []
        """Mutating admission webhooks: each changes the objects that are created."""
        self.is_closing = False

    def register(self, request: Request) -> Call:
        """Numbers a request that has come."""
        with self.store.clock.lock:
            call = Call(len(self.calls) + 1, request, self.store.clock.monotonic())
            self.calls.append(call)
            if request.agent == "us" and request.method != "GET":
                RECORDER.note(request.method, request.path, _document(request), before=self._replaced(request))
            for told in self.before_call:
                told(call)
        return call

    def answer(self, call: Call) -> Answer:
        """Carries a request out; never raises for what a client can send."""
        with self.store.clock.lock:
            with self.store.acting(call.request.agent, call.number):
                try:
                    answer = self._answer(call.request)
                except Refused as refused:
                    answer = refused.answer
            self.calls[call.number - 1] = replace(call, code=answer.code)
            for told in self.after_call:
                told(call, answer)
        return answer

    def watch(self, call: Call, ended: Callable[[], bool] = lambda: False) -> Answer | Iterator[bytes]:
        """The lines of a watch as they come, or the refusal of it."""
        try:
            target = target_of(call.request.path, self.absent)
            lines = watched(self.store, target, call.request, lambda: self.is_closing or ended())
        except Refused as refused:
            return refused.answer
        self.calls[call.number - 1] = replace(call, code=200)
        return lines

    def sent(self, method: str, ending: str = "", *, agent: str = "us") -> list[Call]:
        """The requests of this method whose path ends so, in order of arrival."""
        return [
            call
            for call in self.calls
            if (call.request.method, call.request.agent) == (method, agent) and call.request.path.endswith(ending)
        ]

    def _answer(self, request: Request) -> Answer:
        if request.method == "GET" and (document := discovered(request.path, self.absent)) is not None:
            return json_answer(200, document)
        if (request.method, request.path) == ("POST", _REVIEW):
            return json_answer(201, {**request.document(), "status": {"allowed": True}})
        target = target_of(request.path, self.absent)
        if request.method == "GET" and not target.name:
            return listed(self.store, target, request)
        code = 201 if request.method == "POST" else 200
        found = self._object(target, request)
        if request.method == "GET" and "as=PartialObjectMetadata;" in request.accept:
            head = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
            return json_answer(code, {**head, "metadata": found["metadata"]})
        return json_answer(code, found)

    def _object(self, target: Target, request: Request) -> Object:
        store = self.store
        match request.method, target.subresource:
            case "GET", "" | "status" if target.name:
                return existing(store, target)
            case "POST", "" if not target.name:
                return self._created(target, request)
            case "POST", "eviction" if target.resource.kind == "Pod":
                return evict(store, target, request.document())
            case "POST", "binding" if target.resource.kind == "Pod":
                bind(store, target, request.document())
                return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
            case "PUT", "" | "status" if target.name and _has(target):
                return update(store, target, request.document())
            case "PATCH", "" | "status" if target.name and _has(target):
                return patch(store, target, request)
            case "GET", "scale" if target.resource.kind in HAVE_SCALE:
                return scale_of(store, target)
            case "PATCH", "scale" if target.resource.kind in HAVE_SCALE:
                return patch_scale(store, target, request)
            case "DELETE", "" if target.name:
                return delete(store, target, request.document() if request.body else {})
            case _, "" | "status" | "eviction" | "binding":
                raise Refused(405, "MethodNotAllowed", "the server does not allow this method on the resource")
        raise Refused(404, "NotFound", "the server could not find the requested resource")

    def _replaced(self, request: Request) -> Object | None:
        if request.method != "PUT":
            return None
        with suppress(Refused):
            target = target_of(request.path, self.absent)
            return self.store.find(target.resource, target.key)
        return None

    def _created(self, target: Target, request: Request) -> Object:
        body = request.document()
        for change in self.mutating:
            change(body)
        return create(self.store, target, body, manager=request.query.get("fieldManager", ""))


def _document(request: Request) -> Object | None:
    """What the body says, None where that is no object."""
    try:
        return request.document()
    except Refused:
        return None


def _has(target: Target) -> bool:
    return not target.subresource or target.resource.has_status

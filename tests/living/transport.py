"""The way to the living cluster within the process: what `KubeClient` needs of a transport, without any socket."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from descheduler.kube.errors import AnswerTooLarge, Withheld
from descheduler.kube.http.bounded_body import STATUS_BYTES
from descheduler.kube.http.status import RawResponse
from descheduler.kube.http.transport import StreamedResponse, Transport
from tests.faults.faults import Answer
from tests.living.api.request import Request
from tests.living.api.server import Call, LivingApi

__all__ = ["LivingTransport", "Passage"]

_PHRASES = {200: "OK", 201: "Created", 404: "Not Found", 409: "Conflict", 429: "Too Many Requests"}
_FAIRNESS = {"x-kubernetes-pf-flowschema-uid": "f", "x-kubernetes-pf-prioritylevel-uid": "p"}

Passage = Callable[[Call, Callable[[], Answer]], Answer]
"""What lies between client and server: given a request and how to have it carried out, the answer that arrives.

It may raise what a transport raises. Faults are such passages.
"""


class LivingTransport(Transport):
    """Sends single requests as `agent`. Each takes the time of the API, half of it before it has any effect."""

    def __init__(
        self,
        api: LivingApi,
        *,
        agent: str = "us",
        passage: Passage = lambda call, carry_out: carry_out(),
        timeout_seconds: float = 30.0,
    ) -> None:
        self.host = "http://living.cluster"
        self.timeout_seconds = timeout_seconds
        self.passage = passage
        self._api = api
        self._agent = agent

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        max_bytes: int = STATUS_BYTES,
        accept: str = "application/json",
        may_send: Callable[[], bool] = lambda: True,
        content_type: str = "application/json",
    ) -> RawResponse:
        """As `Transport.send`; a watch is read to its end, which its `timeoutSeconds` says."""
        if not may_send():
            raise Withheld(f"{method} on {self.host} was not sent")
        request = Request(method, path, dict(query or {}), body, accept, content_type, self._agent)
        answer, lines, _ = self._exchanged(request)
        whole = answer.body + b"".join(lines)
        if len(whole) > max_bytes:
            raise AnswerTooLarge(f"{method} {path} on {self.host}: the answer is larger than {max_bytes} bytes")
        return _raw(answer, whole)

    def stream(self, path: str, *, query: Mapping[str, str], accept: str) -> RawResponse | StreamedResponse:
        """As `Transport.stream`."""
        request = Request("GET", path, dict(query), None, accept, agent=self._agent)
        answer, lines, hang_up = self._exchanged(request)
        if answer.code != 200:
            return _raw(answer, answer.body)
        return _LivingStream(f"GET {path} on {self.host}", answer, lines, hang_up)

    def close(self) -> None:
        """Nothing is open."""

    def _exchanged(self, request: Request) -> tuple[Answer, Iterator[bytes], threading.Event]:
        """The answer, the lines that follow it in a watch, and what ends these when it is set."""
        clock = self._api.store.clock
        lines: Iterator[bytes] = iter(())
        hang_up = threading.Event()

        def carried_out() -> Answer:
            nonlocal lines
            if not request.is_watch:
                return self._api.answer(call)
            found = self._api.watch(call, hang_up.is_set)
            if isinstance(found, Answer):
                return found
            lines = found
            return Answer(200, b"")

        with clock.lock:
            clock.sleep(self._api.latency_seconds / 2)
            call = self._api.register(request)
            answer = self.passage(call, carried_out)
            clock.sleep(self._api.latency_seconds / 2)
        return answer, lines, hang_up


class _LivingStream(StreamedResponse):
    """The body of a success, the lines of a watch among it."""

    def __init__(self, what: str, answer: Answer, lines: Iterator[bytes], hang_up: threading.Event) -> None:
        self.what = what
        self.content_type = answer.content_type
        self._answer = answer
        self._lines = lines
        self._hang_up = hang_up

    @contextmanager
    def credentials_hidden(self) -> Iterator[None]:
        """There are none."""
        yield

    def parts(self) -> Iterator[bytes]:
        """The body, in halves, so that what reads it has to put parts together."""
        body = self._answer.body
        yield from filter(None, (body[: len(body) // 2], body[len(body) // 2 :]))
        yield from self._lines

    def close(self) -> None:
        """Gives the rest up."""
        self._hang_up.set()


def _raw(answer: Answer, body: bytes) -> RawResponse:
    headers = {name.lower(): text for name, text in answer.headers} | {"content-type": answer.content_type}
    return RawResponse(answer.code, _PHRASES.get(answer.code, ""), _FAIRNESS | headers, body)

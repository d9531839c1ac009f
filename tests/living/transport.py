"""The way to the living cluster within the process: what `KubeClient` needs of a transport, without any socket."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from descheduler.transport.answer import RawResponse
from descheduler.transport.bounded_body import SHORT_BYTES
from descheduler.transport.errors import AnswerTooLarge, Withheld
from descheduler.transport.exchange import StreamedResponse, Transport
from tests.faults.faults import Answer
from tests.living.api.request import Request
from tests.living.api.server import Call, LivingApi

_PHRASES = {200: "OK", 201: "Created", 404: "Not Found", 409: "Conflict", 429: "Too Many Requests"}
_FAIRNESS = {"x-kubernetes-pf-flowschema-uid": "f", "x-kubernetes-pf-prioritylevel-uid": "p"}


class Passage:
    """What lies between client and server; this one does no harm. Faults are others."""

    def answer(self, call: Call, carry_out: Callable[[], Answer]) -> Answer:
        """The answer that arrives, given how to have the request carried out. May raise what a transport raises."""
        del call
        return carry_out()

    def parts(self, call: Call, parts: Iterator[bytes]) -> Iterator[bytes]:
        """The parts of the body that arrive. May raise what reading a body raises."""
        del call
        return parts


class LivingTransport(Transport):
    """Sends single requests as `agent`. Each takes the time of the API, half of it before it has any effect."""

    def __init__(
        self,
        api: LivingApi,
        *,
        agent: str = "us",
        passage: Passage | None = None,
        timeout_seconds: float = 30.0,
    ) -> None:
        self.host = "http://living.cluster"
        self.timeout_seconds = timeout_seconds
        self.passage = passage or Passage()
        self._api = api
        self._agent = agent

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        max_bytes: int = SHORT_BYTES,
        accept: str = "application/json",
        may_send: Callable[[], bool] = lambda: True,
        content_type: str = "application/json",
    ) -> RawResponse:
        """As `Transport.send`; a watch is read to its end, which its `timeoutSeconds` says."""
        if not may_send():
            raise Withheld(f"{method} on {self.host} was not sent")
        request = Request(method, path, dict(query or {}), body, accept, content_type, self._agent)
        made = self._exchanged(request)
        whole = b"".join(self.passage.parts(made.call, made.parts()))
        if (made.answer.code, whole) == made.honest:
            self._api.delivered[made.call.number] = made.answer.code
        if len(whole) > max_bytes:
            raise AnswerTooLarge(f"{method} {path} on {self.host}: the answer is larger than {max_bytes} bytes")
        return _raw(made.answer, whole)

    def stream(self, path: str, *, query: Mapping[str, str], accept: str) -> RawResponse | StreamedResponse:
        """As `Transport.stream`."""
        request = Request("GET", path, dict(query), None, accept, agent=self._agent)
        made = self._exchanged(request)
        if made.answer.code != 200:
            return _raw(made.answer, made.answer.body)
        parts = self.passage.parts(made.call, made.parts())
        return _LivingStream(f"GET {path} on {self.host}", made.answer.content_type, parts, made.hang_up)

    def close(self) -> None:
        """Nothing is open."""

    def _exchanged(self, request: Request) -> _Exchange:
        clock = self._api.store.clock
        with clock.lock:
            clock.sleep(self._api.latency_seconds / 2)
            made = _Exchange(self._api, self._api.register(request))
            made.answer = self.passage.answer(made.call, made.carry_out)
            clock.sleep(self._api.latency_seconds / 2)
        return made


class _Exchange:
    """One request, its answer as it arrives, and `honest`, status and body of the answer as it was given."""

    def __init__(self, api: LivingApi, call: Call) -> None:
        self.call = call
        self.answer = Answer(0, b"")
        self.honest: tuple[int, bytes] | None = None
        self.hang_up = threading.Event()
        """Ends a watch when it is set."""
        self._api = api
        self._lines: Iterator[bytes] = iter(())

    def carry_out(self) -> Answer:
        """Has the API do what is asked."""
        if not self.call.request.is_watch:
            answer = self._api.answer(self.call)
            self.honest = answer.code, answer.body
            return answer
        found = self._api.watch(self.call, self.hang_up.is_set)
        if isinstance(found, Answer):
            return found
        self._lines = found
        return Answer(200, b"")

    def parts(self) -> Iterator[bytes]:
        """The body in halves, so that who reads it has to put parts together, and the lines of a watch."""
        body = self.answer.body
        yield from filter(None, (body[: len(body) // 2], body[len(body) // 2 :]))
        yield from self._lines


class _LivingStream(StreamedResponse):
    """The body of a success, the lines of a watch among it."""

    def __init__(self, what: str, content_type: str, parts: Iterator[bytes], hang_up: threading.Event) -> None:
        self.what = what
        self.content_type = content_type
        self._parts = parts
        self._hang_up = hang_up

    @contextmanager
    def credentials_hidden(self) -> Iterator[None]:
        """There are none."""
        yield

    def parts(self) -> Iterator[bytes]:
        """The body, part by part."""
        yield from self._parts

    def close(self) -> None:
        """Gives the rest up."""
        self._hang_up.set()


def _raw(answer: Answer, body: bytes) -> RawResponse:
    headers = {name.lower(): text for name, text in answer.headers} | {"content-type": answer.content_type}
    return RawResponse(answer.code, _PHRASES.get(answer.code, ""), _FAIRNESS | headers, body)

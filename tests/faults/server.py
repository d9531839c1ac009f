"""The faulty API server: sockets, threads, and answers that arrive late, cut, twice too long or never."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.faults.answers import Answers, kind_of_request
from tests.faults.distortions import ENDLESS, distorted
from tests.faults.faults import Act, Answer, Delivery, Fault, Requests, status_body
from tests.faults.history import History, Request
from tests.faults.leases import Leases
from tests.faults.rooms.requests import path_of_object
from tests.faults.rules import FaultPlan
from tests.faults.timers import Timers
from tests.faults.wire import json_answer
from tests.loopback import Exchange, Listener
from tests.writes.recorder import RECORDER

_LONGEST_CALL_SECONDS = 60.0
"""How long an API server works on a request that names no `timeout` (`--request-timeout` of kube-apiserver)."""
_DRIP_SECONDS = 0.3


class FaultyServer:
    """Serves one schedule on loopback: in clear, and over TLS where a context is given. A context manager.

    `run` is the number of the run that requests belong to now, `token` the one that TLS clients have to show, and
    `on_request` is called with each request before anything is done about it.
    """

    def __init__(
        self,
        answers: Answers,
        leases: Leases,
        plan: FaultPlan,
        history: History,
        timers: Timers,
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.run = 0
        self.token = ""
        self.on_request: Callable[[Request], None] = lambda request: None
        self.ended = threading.Event()
        self._answers = answers
        self._leases = leases
        self._plan = plan
        self._history = history
        self._timers = timers
        self._lock = threading.Lock()
        self._clear = Listener(_Exchange, self)
        self._secured = Listener(_Exchange, self, tls) if tls else None

    def __enter__(self) -> FaultyServer:
        for listener in self._listeners():
            listener.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self.ended.set()
        for listener in self._listeners():
            listener.__exit__(*raised)

    @property
    def clear_address(self) -> str:
        """`127.0.0.1:port` without TLS."""
        return self._clear.address

    @property
    def address(self) -> str:
        """`127.0.0.1:port` with TLS if there is any."""
        return (self._secured or self._clear).address

    def _listeners(self) -> list[Listener[FaultyServer]]:
        return [self._clear, *([self._secured] if self._secured else [])]

    def respond(
        self, method: str, target: str, authorization: str, body: Any, *, is_secured: bool
    ) -> tuple[Answer | None, Fault]:
        """The answer, None for none at all, and how it is to be sent. Returns when it is due."""
        split = urlsplit(target)
        query = {name: texts[-1] for name, texts in parse_qs(split.query).items()}
        request = self._recorded(method, split.path, body)
        RECORDER.note(method, split.path, body)
        self.on_request(request)
        refusal = self._unauthorized(request, authorization, is_secured=is_secured)
        if refusal is not None:
            return refusal, Fault()
        kind = Requests(request.kind)
        fault = self._plan.fault_for(kind, split.path, request.run, is_write=method != "GET") or Fault()
        if query.get("continue", "").startswith(ENDLESS):
            return self._more(request, query["continue"]), Fault()
        if fault != Fault():
            request.fault = fault.name
        answer = self._act(request, fault, query, body)
        if fault.delay_seconds:
            self.ended.wait(fault.delay_seconds)
        if fault.delivery is Delivery.SILENT:
            return None, fault
        sent = distorted(answer, fault, elsewhere=f"http://{self.clear_address}/elsewhere")
        request.code = sent.code
        request.is_whole = fault == Fault() and sent.code == 200
        request.is_confirmed = kind is Requests.EVICTION and fault == Fault() and 200 <= sent.code < 300
        return sent, fault

    def _recorded(self, method: str, path: str, body: Any) -> Request:
        with self._lock:
            request = Request(
                number=len(self._history.requests),
                at=time.monotonic(),
                run=self.run,
                kind=kind_of_request(method, path, body),
                method=method,
                path=path,
                uid=self._answers.evicted_uid(path, body),
                holder=self._leases.holder,
                about=path_of_object(method, path, body),
            )
            self._history.requests.append(request)
            return request

    def _unauthorized(self, request: Request, shown: str, *, is_secured: bool) -> Answer | None:
        if not is_secured:
            if self._secured and self.token and self.token in shown:
                self._history.foreign_credentials.append(f"{request.method} {request.path} without TLS")
            return None
        if not self.token or shown == f"Bearer {self.token}":
            return None
        request.code, request.fault = 401, "wrong token"
        return json_answer(401, status_body(401, "Unauthorized", "Unauthorized"))

    def _act(self, request: Request, fault: Fault, query: Mapping[str, str], body: Any) -> Answer:
        if fault.act is Act.AT_ONCE:
            return self._answers.answer(request, query, body)
        if fault.act is Act.LATE:
            seconds = query.get("timeout", "")
            bound = float(seconds.rstrip("s")) if seconds.rstrip("s") else _LONGEST_CALL_SECONDS
            if fault.late_seconds <= bound:
                self._timers.after(fault.late_seconds, lambda at: self._act_late(request, body, at))
            else:
                request.note = f"its timeout of {seconds} passed before it was carried out"
        return json_answer(503, status_body(503, "ServiceUnavailable", "not carried out"))

    def _act_late(self, request: Request, body: Any, at: float) -> None:
        answer = self._answers.answer(request, {}, body, at=at)
        request.note = f"carried out {at - request.at:.1f} s after it came: {answer.code}"

    def _more(self, request: Request, token: str) -> Answer:
        """One more empty page of a list without end."""
        request.fault = "continue token without end"
        metadata = {"resourceVersion": "1", "continue": f"{ENDLESS}.{int(token.partition('.')[2]) + 1}"}
        return json_answer(200, {"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": []})


class _Exchange(Exchange[FaultyServer]):
    def answer(self, body: bytes) -> None:
        try:
            decoded = json.loads(body) if body else None
        except ValueError:
            decoded = None
        authorization = self.headers.get("Authorization", "")
        answer, fault = self.owner.respond(
            self.command, self.path, authorization, decoded, is_secured=self.server.tls is not None
        )
        with contextlib.suppress(OSError):
            self._send(answer, fault)

    def _send(self, answer: Answer | None, fault: Fault) -> None:
        if answer is None:
            self._wait_for_hangup()
            return
        if fault.delivery is Delivery.RESET:
            self._reset()
            return
        body = answer.body
        head = self._head(answer, {Delivery.SHORT_LENGTH: -10, Delivery.LONG_LENGTH: 10}.get(fault.delivery, 0))
        if fault.delivery is Delivery.TRUNCATED:
            self.wfile.write(head + body[: len(body) // 2])
            self.close_connection = True
        elif fault.delivery is Delivery.DRIPPING:
            self.wfile.write(head)
            self._drip(body)
        else:
            self.wfile.write(head + body)
            self.close_connection = fault.delivery in (Delivery.SHORT_LENGTH, Delivery.LONG_LENGTH)

    def _head(self, answer: Answer, too_much: int) -> bytes:
        fields = [*answer.headers, ("Content-Type", answer.content_type)]
        fields.append(("Content-Length", str(max(0, len(answer.body) + too_much))))
        lines = [f"HTTP/1.1 {answer.code} Answer", *(f"{name}: {text}" for name, text in fields), "", ""]
        return "\r\n".join(lines).encode()

    def _drip(self, body: bytes) -> None:
        for byte in body:
            if self.owner.ended.wait(_DRIP_SECONDS) or self._has_hung_up(0):
                break
            self.wfile.write(bytes([byte]))
        self.close_connection = True

    def _wait_for_hangup(self) -> None:
        while not self.owner.ended.is_set() and not self._has_hung_up(0.2):
            pass
        self.close_connection = True

    def _has_hung_up(self, seconds: float) -> bool:
        """Whether the client has closed its end; it never sends anything before it has its answer."""
        readable, _, _ = select.select([self.connection], [], [], seconds)
        return bool(readable)

    def _reset(self) -> None:
        self.close_connection = True
        # Without lingering the kernel answers with RST; the file that reads from the socket has to go first.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

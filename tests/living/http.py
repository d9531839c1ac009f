"""The living cluster over HTTP on loopback, for runs of the whole program: its clock then follows real time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl

from descheduler.transport.errors import TransportError
from tests.faults.faults import Answer
from tests.living.api.request import Request
from tests.living.api.server import Call
from tests.living.cluster import LivingCluster
from tests.living.transport import Passage
from tests.loopback import Exchange, Listener, write_kubeconfig

_TICK_SECONDS = 0.01


class LivingServer:
    """Serves `cluster` until it is left; a context manager. All requests are those of "us".

    From when it is entered until it is left the cluster's time is real time, or `scale` times as fast: then the
    program's own clock falls behind. On the `passage` a TransportError closes the connection; `cluster.api.before_call`
    and `after_call` are the places to end the program at a call.
    """

    def __init__(self, cluster: LivingCluster, *, scale: float = 1.0, passage: Passage | None = None) -> None:
        self.cluster = cluster
        self.passage = passage or Passage()
        self._scale = scale
        self._ended = threading.Event()
        self._listener = Listener(_Exchange, self)

    def __enter__(self) -> LivingServer:
        self.cluster.clock.follow_real_time(self._scale)
        self._listener.__enter__()
        threading.Thread(target=self._live, daemon=True).start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._ended.set()
        self.cluster.api.is_closing = True
        self._listener.__exit__(*raised)
        self.cluster.clock.stand_still()

    @property
    def url(self) -> str:
        """The base URL."""
        return self._listener.url

    def write_kubeconfig(self, file: Path) -> Path:
        """Writes a kubeconfig for the cluster and returns its path."""
        return write_kubeconfig(file, self.url, {})

    def _live(self) -> None:
        while not self._ended.wait(_TICK_SECONDS):
            self.cluster.clock.catch_up()


class _Exchange(Exchange[LivingServer]):
    def answer(self, body: bytes) -> None:
        owner, target = self.owner, self.target
        request = Request(
            self.command,
            target.path,
            dict(parse_qsl(target.query, keep_blank_values=True)),
            body or None,
            self.headers.get("Accept", "application/json"),
            self.headers.get("Content-Type", "application/json"),
        )
        api = owner.cluster.api
        owner.cluster.clock.catch_up()
        call = api.register(request)
        lines: Iterator[bytes] | None = None

        def carry_out() -> Answer:
            nonlocal lines
            if not request.is_watch:
                return api.answer(call)
            found = api.watch(call)
            if isinstance(found, Answer):
                return found
            lines = found
            return Answer(200, b"")

        try:
            answer = owner.passage.answer(call, carry_out)
        except TransportError:
            self.close_connection = True
            return
        with suppress(OSError):
            self._send(call, answer, lines)

    def _send(self, call: Call, answer: Answer, lines: Iterator[bytes] | None) -> None:
        self.send_response(answer.code)
        self.send_header("Content-Type", answer.content_type)
        for name, text in answer.headers:
            self.send_header(name, text)
        if lines is None:
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)
            self.owner.cluster.api.delivered[call.number] = answer.code
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in self.owner.passage.parts(call, lines):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        self.wfile.write(b"0\r\n\r\n")

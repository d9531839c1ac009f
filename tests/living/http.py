"""The living cluster over HTTP on loopback, for runs of the whole program: its clock then follows real time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import yaml

from descheduler.transport.errors import TransportError
from tests.faults.faults import Answer
from tests.living.api.request import Request
from tests.living.api.server import Call
from tests.living.cluster import LivingCluster
from tests.living.transport import Passage

__all__ = ["LivingServer"]

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
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self

    def __enter__(self) -> LivingServer:
        self.cluster.clock.follow_real_time(self._scale)
        for task in (lambda: self._server.serve_forever(0.02), self._live):
            threading.Thread(target=task, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.cluster.api.is_closing = True
        self._server.shutdown()
        self._server.server_close()
        self.cluster.clock.stand_still()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def write_kubeconfig(self, file: Path) -> Path:
        """Writes a kubeconfig for the cluster and returns its path."""
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "living",
            "contexts": [{"name": "living", "context": {"cluster": "living", "user": "tester"}}],
            "clusters": [{"name": "living", "cluster": {"server": self.url}}],
            "users": [{"name": "tester", "user": {}}],
        }
        file.write_text(yaml.safe_dump(document))
        return file

    def _live(self) -> None:
        while not self._ended.wait(_TICK_SECONDS):
            self.cluster.clock.catch_up()


class _Server(ThreadingHTTPServer):
    owner: LivingServer
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are no news here."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answers; the base class calls a method named after that of the request."""
        request = self._request()
        owner = self.server.owner
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

    do_POST = do_GET  # noqa: N815 - the base class looks for these names
    do_PUT = do_GET  # noqa: N815
    do_PATCH = do_GET  # noqa: N815
    do_DELETE = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Keeps quiet."""

    def _request(self) -> Request:
        split = urlsplit(self.path)
        num_bytes = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(num_bytes)
        if len(body) < num_bytes:
            raise ConnectionError("the client ended in the middle of its request, which so never was one")
        return Request(
            self.command,
            split.path,
            dict(parse_qsl(split.query, keep_blank_values=True)),
            body or None,
            self.headers.get("Accept", "application/json"),
            self.headers.get("Content-Type", "application/json"),
        )

    def _send(self, call: Call, answer: Answer, lines: Iterator[bytes] | None) -> None:
        self.send_response(answer.code)
        self.send_header("Content-Type", answer.content_type)
        for name, text in answer.headers:
            self.send_header(name, text)
        if lines is None:
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)
            self.server.owner.cluster.api.delivered[call.number] = answer.code
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in self.server.owner.passage.parts(call, lines):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        self.wfile.write(b"0\r\n\r\n")

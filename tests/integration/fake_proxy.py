"""An HTTP proxy on loopback for tests: CONNECT and absolute URLs; it notes what it was asked for and by whom."""

from __future__ import annotations

import http.client
import select
import socket
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import urlsplit

__all__ = ["FakeProxy", "Passage"]

_CHUNK_BYTES = 65536


@dataclass(frozen=True)
class Passage:
    """One request to the proxy: its method, and the two fields that may hold credentials ("" without)."""

    method: str
    proxy_authorization: str
    authorization: str


class FakeProxy:
    """Passes everything on to where it is meant for, as long as it is on loopback; a context manager."""

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self.refuses_with = 0
        """The status that answers every CONNECT; 0 lets it pass."""
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.proxy = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> FakeProxy:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self._server.server_address[1]}"


class _Server(ThreadingHTTPServer):
    proxy: FakeProxy
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_CONNECT(self) -> None:
        self._note()
        if self.server.proxy.refuses_with:
            self.send_error(self.server.proxy.refuses_with)
            self.close_connection = True
            return
        host, _, port = self.path.partition(":")
        with socket.create_connection((host, int(port))) as upstream:
            self.send_response(200)
            self.end_headers()
            _relay(self.connection, upstream)
        self.close_connection = True

    def do_GET(self) -> None:
        self._forward()

    def do_POST(self) -> None:
        self._forward()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Keeps quiet."""

    def _note(self) -> None:
        get = self.headers.get
        self.server.proxy.passages.append(
            Passage(self.command, get("Proxy-Authorization", ""), get("Authorization", ""))
        )

    def _forward(self) -> None:
        self._note()
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        onward = http.client.HTTPConnection(url.hostname or "", url.port)
        target = url.path + (f"?{url.query}" if url.query else "")
        onward.request(self.command, target, body, {"Accept": "application/json"})
        answer = onward.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        onward.close()


def _relay(one: socket.socket, other: socket.socket) -> None:
    """Copies bytes both ways until either side has gone."""
    while True:
        for ready in select.select([one, other], [], [])[0]:
            data = ready.recv(_CHUNK_BYTES)
            if not data:
                return
            (other if ready is one else one).sendall(data)

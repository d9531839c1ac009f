"""An HTTP proxy on loopback for tests: CONNECT and absolute URLs; it notes what it was asked for and by whom."""

from __future__ import annotations

import http.client
import select
import socket
from dataclasses import dataclass

from tests.loopback import Exchange, Listener

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
        self._listener = Listener(_Exchange, self)

    def __enter__(self) -> FakeProxy:
        self._listener.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._listener.__exit__(*raised)

    @property
    def address(self) -> str:
        """Host and port."""
        return self._listener.address


class _Exchange(Exchange[FakeProxy]):
    def do_CONNECT(self) -> None:  # noqa: N802 - the base class looks for this name
        self._note()
        if self.owner.refuses_with:
            self.send_error(self.owner.refuses_with)
            self.close_connection = True
            return
        host, _, port = self.path.partition(":")
        with socket.create_connection((host, int(port))) as upstream:
            self.send_response(200)
            self.end_headers()
            _relay(self.connection, upstream)
        self.close_connection = True

    def _note(self) -> None:
        get = self.headers.get
        self.owner.passages.append(Passage(self.command, get("Proxy-Authorization", ""), get("Authorization", "")))

    def answer(self, body: bytes) -> None:
        self._note()
        url = self.target
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

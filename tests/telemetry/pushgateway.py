"""A Pushgateway on loopback, which keeps what was pushed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

__all__ = ["Pushgateway", "pushgateway"]


class Pushgateway:
    """Group, as in the path → the text that was pushed to it last. `status_code` is that of every answer."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.groups: dict[str, str] = {}
        self.status_code = 200


@pytest.fixture
def pushgateway() -> Iterator[Pushgateway]:
    """A Pushgateway that is serving."""
    server = HTTPServer(("127.0.0.1", 0), _Handler)
    gateway = _Handler.gateway = Pushgateway(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield gateway
    server.shutdown()
    server.server_close()


class _Handler(BaseHTTPRequestHandler):
    gateway: Pushgateway

    def do_PUT(self) -> None:
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.gateway.status_code < 300:
            self.gateway.groups[self.path] = text
        self.send_response(self.gateway.status_code)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Keeps quiet."""

"""HTTP on loopback for tests: one listener, which reads whole requests, and what their servers share.

What is answered is a server's own: each has its subclass of `Exchange`.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import SplitResult, urlsplit

import yaml

Owner = TypeVar("Owner")


class Listener(ThreadingHTTPServer, Generic[Owner]):
    """Listens from when it is made and serves from when it is entered, over TLS where a context is given.

    `owner` is the test's server, for the exchanges that answer for it.
    """

    daemon_threads = True
    # The default of 5 has the kernel refuse connections when a test opens many at once.
    request_queue_size = 128

    def __init__(self, exchange: type[Exchange[Owner]], owner: Owner, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), exchange)
        self.owner = owner
        self.tls = tls

    def __enter__(self) -> Listener[Owner]:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    @property
    def address(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        """The base URL."""
        return f"{'https' if self.tls else 'http'}://{self.address}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are no news here."""


class Exchange(BaseHTTPRequestHandler, Generic[Owner]):
    """One connection; a subclass answers each of its requests."""

    server: Listener[Owner]
    protocol_version = "HTTP/1.1"
    # Header and body are two writes; the second would wait for the client's delayed acknowledgement of the first.
    disable_nagle_algorithm = True

    def answer(self, body: bytes) -> None:
        """Answers the request whose head has been read, and whose whole body is given."""
        raise NotImplementedError

    @property
    def owner(self) -> Owner:
        """The test's server."""
        return self.server.owner

    @property
    def target(self) -> SplitResult:
        """The URL that is asked for, in its parts."""
        return urlsplit(self.path)

    def setup(self) -> None:
        """Shakes hands in the thread of the connection, so that a silent client keeps no other waiting."""
        if self.server.tls is not None:
            self.request.settimeout(10)
            self.request = self.server.tls.wrap_socket(self.request, server_side=True)
            self.request.settimeout(None)
        super().setup()

    def finish(self) -> None:
        """Closes the connection under TLS as well: the base class knows the socket below alone."""
        super().finish()
        if self.server.tls is not None:
            self.connection.close()

    def do_GET(self) -> None:
        """Reads the request; the base class calls a method that is named after the verb."""
        num_bytes = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(num_bytes)
        if len(body) < num_bytes:  # the client was killed meanwhile: half a request is none
            self.close_connection = True
            return
        self.answer(body)

    do_POST = do_GET  # noqa: N815 - the base class looks for these names
    do_PUT = do_GET  # noqa: N815
    do_PATCH = do_GET  # noqa: N815
    do_DELETE = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Keeps quiet."""


def write_kubeconfig(file: Path, server: str, user: Mapping[str, str], *, authority: Path | None = None) -> Path:
    """Writes a kubeconfig for `user` of the API server at this URL and returns its path."""
    cluster = {"server": server, **({"certificate-authority": str(authority)} if authority else {})}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "loopback",
        "contexts": [{"name": "loopback", "context": {"cluster": "loopback", "user": "tester"}}],
        "clusters": [{"name": "loopback", "cluster": cluster}],
        "users": [{"name": "tester", "user": dict(user)}],
    }
    file.write_text(yaml.safe_dump(document))
    return file

"""An HTTP endpoint for a process that runs cycle after cycle: `/metrics` and `/healthz`, nothing else.

Of the metrics of its cycles what counts adds up, all else is that of the last one.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
from prometheus_client import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector, CollectorRegistry

from descheduler.telemetry.metrics.families import run_registry
from descheduler.telemetry.run_record import RunRecord

_MOST_CONNECTIONS = 16
"""More of them are closed at once, so that no client can take all threads of the process."""
_PATIENCE_SECONDS = 5.0
_POLL_SECONDS = 0.2


class ListenAddress(msgspec.Struct, frozen=True):
    """Where to listen; `host` "" is every address of the machine. Port 0 has the system choose one."""

    host: str
    port: int


class Served(msgspec.Struct, frozen=True):
    """One answer."""

    body: bytes
    content_type: str = "text/plain; charset=utf-8"
    status_code: int = 200


Endpoint = Callable[[], Served]


@contextmanager
def served(address: ListenAddress, endpoints: Mapping[str, Endpoint]) -> Iterator[str]:
    """Serves `endpoints` by their path for as long as the context lasts; it is the address, as `host:port`.

    Raises OSError where the address cannot be listened on.
    """
    server = _Server(address, endpoints)
    threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,), name="metrics", daemon=True).start()
    try:
        host, port = server.server_address[:2]
        yield f"[{host!s}]:{port}" if ":" in str(host) else f"{host!s}:{port}"
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: ListenAddress, endpoints: Mapping[str, Endpoint]) -> None:
        is_v6 = ":" in address.host or (not address.host and socket.has_dualstack_ipv6())
        self.address_family = socket.AF_INET6 if is_v6 else socket.AF_INET
        self.endpoints = endpoints
        self._free = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        super().__init__((address.host, address.port), _Request)

    def server_bind(self) -> None:
        """Binds to IPv4 as well where every address is meant."""
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answers on a thread of its own where one is free."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answers, and gives the thread back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up or send nonsense are no news."""


class _Request(BaseHTTPRequestHandler):
    server: _Server
    timeout = _PATIENCE_SECONDS
    server_version = "descheduler"
    sys_version = ""

    def do_GET(self) -> None:
        """Answers with what is at the path."""
        endpoint = self.server.endpoints.get(self.path.partition("?")[0])
        answer = Served(b"not found\n", status_code=404) if endpoint is None else endpoint()
        self.send_response(answer.status_code)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    do_HEAD = do_GET  # noqa: N815 - the base class looks for this name

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Requests are not logged."""


Series = tuple[str, tuple[tuple[str, str], ...]]
_ADD_UP = frozenset({"counter", "histogram"})


class RunsSoFar(Collector):
    """All runs of this process. Safe from any thread."""

    def __init__(self) -> None:
        self._latest: Mapping[str, Metric] = {}
        self._sums: dict[str, dict[Series, float]] = {}
        self._last_success: float | None = None
        self._lock = threading.Lock()
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def add(self, record: RunRecord) -> None:
        """Counts a run that has ended."""
        with self._lock:
            if record.is_success:
                self._last_success = record.ended_at
            latest = {each.name: each for each in run_registry(record, last_success=self._last_success).collect()}
            for name, family in latest.items():
                if family.type in _ADD_UP:
                    self._add_up(name, family)
            self._latest = latest

    def collect(self) -> Iterable[Metric]:
        """The families as they are now."""
        with self._lock:
            return list(self._families())

    @property
    def text(self) -> bytes:
        """All of it in Prometheus's text format."""
        return generate_latest(self._registry)

    def _add_up(self, name: str, family: Metric) -> None:
        sums = self._sums.setdefault(name, {})
        for sample in family.samples:
            series = sample.name, tuple(sample.labels.items())
            sums[series] = sums.get(series, 0.0) + sample.value

    def _families(self) -> Iterator[Metric]:
        for name, latest in self._latest.items():
            if name not in self._sums:
                yield latest
                continue
            family = Metric(name, latest.documentation, latest.type)
            for (sample, labels), total in self._sums[name].items():
                family.add_sample(sample, dict(labels), total)
            yield family

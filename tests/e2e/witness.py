"""The program's own client, watched: what it asked, when, what came back, and a word before each request.

With it a test changes the cluster at an exact point of a run, which no timing could hit.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from descheduler.cycle.options import RunOptions, RunResult
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.run import run_with
from descheduler.kube.authentication.configuration import load_connection
from descheduler.kube.client import KubeClient
from descheduler.policy.load import load_policy
from descheduler.supervision import Watch
from descheduler.transport.answer import RawResponse
from descheduler.transport.exchange import StreamedResponse, Transport

FAST = RunOptions(qps=500.0, burst=500)
"""No pace that a small test would feel."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer; `sent_at` is in monotonic seconds."""

    method: str
    path: str
    query: Mapping[str, str]
    sent_at: float
    status_code: int
    headers: Mapping[str, str]

    @property
    def is_eviction(self) -> bool:
        """Whether it asks for an eviction."""
        return self.method == "POST" and self.path.endswith("/eviction")


class Witness(Transport):
    """A transport to the cluster of `kubeconfig` that keeps every exchange.

    `before` is called with method, path and query of each request before it is sent, by one thread at a time.
    """

    def __init__(
        self, kubeconfig: Path, *, before: Callable[[str, str, Mapping[str, str]], None] | None = None
    ) -> None:
        connection = load_connection(str(kubeconfig), None, environ=os.environ)
        super().__init__(connection, headers={}, timeout_seconds=30.0)
        self.exchanges: list[Exchange] = []
        self._before = before
        self._lock = threading.Lock()

    def send(self, method: str, path: str, *, query: Mapping[str, str] | None = None, **options: Any) -> RawResponse:
        """The answer to one request, with the options of `Transport.send`."""
        sent_at = self._announce(method, path, query or {})
        answer = super().send(method, path, query=query, **options)
        self.exchanges.append(Exchange(method, path, dict(query or {}), sent_at, answer.status_code, answer.headers))
        return answer

    def stream(self, path: str, *, query: Mapping[str, str], accept: str) -> RawResponse | StreamedResponse:
        """The answer to one request, whose body is still to come; its header is not kept."""
        sent_at = self._announce("GET", path, query)
        answer = super().stream(path, query=query, accept=accept)
        self.exchanges.append(Exchange("GET", path, dict(query), sent_at, answer.status_code, {}))
        return answer

    def _announce(self, method: str, path: str, query: Mapping[str, str]) -> float:
        if self._before is not None:
            with self._lock:
                self._before(method, path, query)
        return time.monotonic()

    def evictions(self) -> list[Exchange]:
        """The evictions asked for, in the order they were sent."""
        return sorted((e for e in self.exchanges if e.is_eviction), key=lambda exchange: exchange.sent_at)

    def client(self) -> KubeClient:
        """The program's client over this transport."""
        return KubeClient(self)


def watched_run(witness: Witness, policy: str, options: RunOptions = FAST) -> RunResult:
    """One run of the program in this process."""
    loaded = load_policy(policy, REGISTRY)
    return run_with(witness.client(), loaded, options, Watch(), now=datetime.now(UTC))

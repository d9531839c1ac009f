"""Events about pods, written in the background: a run neither waits for them nor fails because of them."""

from __future__ import annotations

import socket
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, wait
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Literal

import msgspec

from descheduler.kube.answers import decode_status
from descheduler.kube.background import BackgroundCalls
from descheduler.model.shard import WHOLE_CLUSTER, Shard
from descheduler.transport.errors import ExchangeError

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient

_CONTROLLER = "sigs.k8s.io.descheduler"
_OF_CLUSTER = "default"
"""Where the API wants events about objects without a namespace."""
# Limits of the events.k8s.io/v1 API; longer values would have the whole event refused.
_MAX_NOTE_BYTES = 1024
_MAX_NAME_PREFIX = 200
_MAX_REASON_BYTES = 128


class PodEvent(msgspec.Struct, frozen=True):
    """One event: what it regards, by default a pod, its type, `reason` and `action` in CamelCase, and a sentence.

    `namespace` is "" for an object of the cluster.
    """

    namespace: str
    name: str
    uid: str
    type: Literal["Normal", "Warning"]
    reason: str
    action: str
    note: str
    kind: str = "Pod"
    api_version: str = "v1"


class EventTotals(msgspec.Struct, frozen=True):
    """How many events were written, refused or still unanswered when time was up, and dropped for a full queue."""

    num_written: int
    num_failed: int
    num_dropped: int
    first_fault: str | None


class _ObjectMeta(msgspec.Struct, rename="camel"):
    name: str
    namespace: str


class _Regarding(msgspec.Struct, rename="camel"):
    kind: str
    api_version: str
    namespace: str
    name: str
    uid: str


class _Event(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    metadata: _ObjectMeta
    event_time: str
    type: str
    reason: str
    action: str
    note: str
    regarding: _Regarding
    reporting_controller: str
    reporting_instance: str


class EventRecorder:
    """Writes events with one daemon thread. Any thread may `record`; `now` gives aware UTC times.

    At most `max_queued` events wait; further ones are dropped and counted, so that a slow API server costs memory
    and time in bounds. The note of each names the `shard` of the run, unless that is the whole cluster.
    """

    def __init__(
        self,
        client: KubeClient,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        hostname: str | None = None,
        max_queued: int = 2000,
        shard: Shard = WHOLE_CLUSTER,
    ) -> None:
        self._client = client
        self._now = now
        self._instance = f"{_CONTROLLER}-{hostname or socket.gethostname()}"[:128]
        self._max_queued = max_queued
        self._suffix = "" if shard.is_whole else f" ({shard.whole_name})"
        self._calls: BackgroundCalls[str | None] = BackgroundCalls(1, name="events")
        self._waiting: deque[Future[str | None]] = deque()
        self._faults: list[str] = []
        self._num_written = 0
        self._num_dropped = 0
        self._is_closed = False
        self._lock = threading.Lock()

    def record(self, event: PodEvent) -> None:
        """Queues the event and returns at once; after the end it is dropped."""
        with self._lock:
            self._count_finished()
            if self._is_closed or len(self._waiting) >= self._max_queued:
                self._num_dropped += 1
                return
            self._waiting.append(self._calls.submit(partial(self._write, event, self._now())))

    def is_idle(self) -> bool:
        """Whether every queued event is written or refused."""
        with self._lock:
            return all(future.done() for future in self._waiting)

    def flush(self, timeout_seconds: float) -> EventTotals:
        """Totals after waiting for queued events, for `timeout_seconds` at most; what is left then is given up."""
        with self._lock:
            self._is_closed = True
            wait(self._waiting, timeout=timeout_seconds)
            self._count_finished()
            self._calls.close()
        return EventTotals(
            num_written=self._num_written,
            num_failed=len(self._faults) + len(self._waiting),
            num_dropped=self._num_dropped,
            first_fault=self._faults[0] if self._faults else None,
        )

    def _count_finished(self) -> None:
        # One thread, so they end in the order they came; what a flush gave up is cancelled, and stays among them.
        while self._waiting and self._waiting[0].done() and not self._waiting[0].cancelled():
            ended = self._waiting.popleft()
            defect = ended.exception()  # an Event is never worth a run
            fault = ended.result() if defect is None else f"internal error ({type(defect).__name__})"
            if fault is None:
                self._num_written += 1
            else:
                self._faults.append(fault)

    def _write(self, event: PodEvent, at: datetime) -> str | None:
        path = f"/apis/events.k8s.io/v1/namespaces/{event.namespace or _OF_CLUSTER}/events"
        try:
            answer = self._client.send("POST", path, body=msgspec.json.encode(self._document(event, at)))
        except ExchangeError as error:
            return str(error)
        return None if answer.is_success else decode_status(answer).message

    def _document(self, event: PodEvent, at: datetime) -> _Event:
        return _Event(
            api_version="events.k8s.io/v1",
            kind="Event",
            metadata=_ObjectMeta(_event_name(event.name, at), event.namespace or _OF_CLUSTER),
            event_time=at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            type=event.type,
            reason=event.reason[:_MAX_REASON_BYTES],
            action=event.action,
            note=_cut(event.note, _MAX_NOTE_BYTES - len(self._suffix.encode())) + self._suffix,
            regarding=_Regarding(event.kind, event.api_version, event.namespace, event.name, event.uid),
            reporting_controller=_CONTROLLER,
            reporting_instance=self._instance,
        )


def _event_name(pod_name: str, at: datetime) -> str:
    """Pod name and time in nanoseconds, as client-go names events: the API refuses to generate after a final dot."""
    since_epoch = at.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    nanoseconds = since_epoch // timedelta(microseconds=1) * 1000
    return f"{pod_name[:_MAX_NAME_PREFIX].rstrip('-.')}.{nanoseconds:x}"


def _cut(text: str, max_bytes: int) -> str:
    encoded = text.encode()
    return text if len(encoded) <= max_bytes else encoded[: max_bytes - 3].decode(errors="ignore") + "..."

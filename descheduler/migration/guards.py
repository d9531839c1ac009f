"""What stops a live run while it evicts: a cluster that gets worse, or an API server that answers badly.

The cluster is looked after every few seconds, and what a guard said is remembered.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import msgspec

from descheduler.eviction.migration_controller.profiles import migration_controllers
from descheduler.kube.client import KubeClient
from descheduler.kube.lists.listing import column_cells
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.room.labels import is_named_as_placeholder
from descheduler.model.text.counted import counted
from descheduler.model.text.numbers import share_of
from descheduler.policy.types import Policy
from descheduler.transport.errors import ExchangeError


class Watchman:
    """To be asked as often as one likes, from any thread; `submit` makes `read` every `period_seconds` of `clock`.

    What it could not read it does not know: the API server's errors are for `errors` to judge.
    """

    def __init__(
        self,
        read: Callable[[], Health],
        guards: Sequence[Guard],
        errors: ApiErrors,
        *,
        submit: Callable[[Callable[[], Health]], Future[Any]],
        clock: Callable[[], float],
        period_seconds: float,
    ) -> None:
        self._read = read
        self._guards = guards
        self.errors = errors
        self._submit = submit
        self._clock = clock
        self._period_seconds = period_seconds
        self._future: Future[Any] | None = None
        self._due = clock()
        self._start: Health | None = None
        self._lock = threading.Lock()
        self.tripped = ""
        """Why the run has to stop; "" while it has not."""

    def look(self) -> str:
        """Why the run has to stop, "" while it has not."""
        if not self.tripped and self._lock.acquire(blocking=False):
            try:
                self.tripped = self.errors.why()
                self._take()
                self._begin()
            finally:
                self._lock.release()
        return self.tripped

    def _begin(self) -> None:
        if self._future is None and self._clock() >= self._due:
            self._due = self._clock() + self._period_seconds
            self._future = self._submit(self._read)

    def _take(self) -> None:
        if self._future is None or not self._future.done():
            return
        future, self._future = self._future, None
        try:
            now: Health = future.result()
        except ExchangeError:
            return
        self._start = self._start or now
        for guard in self._guards:
            self.tripped = self.tripped or guard.why(self._start, now)


_WINDOW = 50
_LEAST_CALLS = 20


class ApiErrors:
    """Counts the latest calls, from any thread. `most_percent` of them may fail."""

    def __init__(self, most_percent: int) -> None:
        self._most_percent = most_percent
        self._latest: deque[bool] = deque(maxlen=_WINDOW)

    def note(self, status_code: int) -> None:
        """Takes note of an answer; 0 stands for none that can be used. A 429 may be a budget's and is no error."""
        self._latest.append(status_code == 0 or status_code >= 500)

    def why(self) -> str:
        """What is wrong, to be read after "stopped by"; "" while nothing is."""
        latest = list(self._latest)
        num_errors = sum(latest)
        if len(latest) < _LEAST_CALLS or 100 * num_errors <= self._most_percent * len(latest):
            return ""
        return (
            f"{num_errors} errors in the last {len(latest)} API calls (guards.maxAPIErrorRate: {self._most_percent}%)"
        )


def make_watchman(
    policy: Policy,
    client: KubeClient,
    submit: Callable[[Callable[[], Health]], Future[Any]],
    clock: Callable[[], float],
) -> Watchman | None:
    """What looks after the cluster for a run of `policy`; None for one without a MigrationController.

    `submit` has the cluster looked at in the background. Of several profiles each has its guards; the strictest share
    of errors and the shortest interval hold.
    """
    asked = [args.guards for args in migration_controllers(policy).values()]
    if not asked:
        return None
    guards: list[Guard] = []
    for each in asked:
        guards += [_RisingPending(each.max_pending_pods_increase), _NotReadyNodes(each.max_not_ready_nodes)]
    counts_pods = any(isinstance(each.max_pending_pods_increase, str) for each in asked)
    return Watchman(
        partial(read_health, ObjectCalls(client), counts_pods=counts_pods),
        guards,
        ApiErrors(min(int(each.max_api_error_rate.removesuffix("%")) for each in asked)),
        submit=submit,
        clock=clock,
        period_seconds=min(each.interval.total_seconds() for each in asked),
    )


@dataclass(frozen=True, slots=True)
class Health:
    """Pods that hold room for a migration do not count as unschedulable; `num_pods` is 0 where none were counted."""

    num_nodes: int
    num_not_ready: int
    num_unschedulable: int
    num_pods: int = 0


_NODES = "/api/v1/nodes"
_PODS = "/api/v1/pods"


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""
    reason: str = ""


class _Metadata(msgspec.Struct):
    name: str = ""
    labels: dict[str, str] | None = None


class _Status(msgspec.Struct):
    conditions: list[_Condition] | None = None


class _Object(msgspec.Struct):
    metadata: _Metadata
    status: _Status = msgspec.field(default_factory=_Status)


_decode = msgspec.json.Decoder(_Object).decode


class _PageMetadata(msgspec.Struct, rename="camel"):
    remaining_item_count: int | None = None


class _Page(msgspec.Struct):
    metadata: _PageMetadata
    items: list[msgspec.Raw]


_decode_page = msgspec.json.Decoder(_Page).decode


def read_health(objects: ObjectCalls, *, counts_pods: bool = False) -> Health:
    """The health now, by two lists: the nodes, and the pods of phase Pending without a node. Raises ExchangeError."""
    are_not_ready = _read_nodes(objects)
    pods = objects.list_readable(_PODS, _decode, field_selector="status.phase=Pending,spec.nodeName=")
    num_pods = _count_pods(objects) if counts_pods else 0
    return Health(len(are_not_ready), sum(are_not_ready), sum(map(_is_unschedulable, pods)), num_pods)


def _count_pods(objects: ObjectCalls) -> int:
    """How many pods there are, of any phase: the first page of their list says how many more follow."""
    page = objects.client.fetch(_PODS, _decode_page, query={"limit": "1"})
    return len(page.items) + (page.metadata.remaining_item_count or 0)


def _read_nodes(objects: ObjectCalls) -> list[bool]:
    """Whether each node is not ready.

    By the table of `kubectl get nodes`: whole nodes, with their images, are some 10 KB each. A cell is, for example,
    `NotReady,SchedulingDisabled` (kubernetes 1.36 `pkg/printers/internalversion/printers.go`, `printNode`).
    """
    cells = column_cells(objects.client, _NODES, "Status")
    if cells is None:
        return [_is_not_ready(node) for node in objects.list(_NODES, _decode)]
    return [cell.split(",")[0] == "NotReady" for cell in cells]


def _is_not_ready(node: _Object) -> bool:
    return any(each.type == "Ready" and each.status != "True" for each in node.status.conditions or ())


def _is_unschedulable(pod: _Object) -> bool:
    if is_named_as_placeholder(pod.metadata.name, pod.metadata.labels or {}):
        return False
    conditions = pod.status.conditions or ()
    return any(each.type == "PodScheduled" and each.reason == "Unschedulable" for each in conditions)


class Guard(Protocol):
    """Says when a run has to stop. Safe to be asked again."""

    def why(self, start: Health, now: Health) -> str:
        """What is wrong, to be read after "stopped by"; "" while nothing is. `start` is when evictions began."""


@dataclass(frozen=True, slots=True)
class _RisingPending:
    """More pods find no node than at the start: `most_more` are allowed, a number or a percentage of the pods then."""

    most_more: int | str

    def why(self, start: Health, now: Health) -> str:
        """As Guard."""
        more = now.num_unschedulable - start.num_unschedulable
        if more <= share_of(self.most_more, start.num_pods):
            return ""
        found, before = counted(now.num_unschedulable, "unschedulable pod"), start.num_unschedulable
        return f"{found}, {before} before the first eviction (guards.maxPendingPodsIncrease: {self.most_more})"


@dataclass(frozen=True, slots=True)
class _NotReadyNodes:
    """More nodes are not ready than `most`, a number or a percentage of the nodes."""

    most: int | str

    def why(self, start: Health, now: Health) -> str:
        """As Guard."""
        if now.num_not_ready <= _most_of(self.most, now.num_nodes):
            return ""
        return (
            f"{now.num_not_ready} of {counted(now.num_nodes, 'node')} NotReady (guards.maxNotReadyNodes: {self.most})"
        )


def _most_of(limit: int | str, whole: int) -> float:
    """`limit`, a number or a percentage of `whole`."""
    return whole * int(limit.removesuffix("%")) / 100 if isinstance(limit, str) else limit

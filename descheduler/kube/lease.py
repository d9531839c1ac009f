"""The lock that keeps two runs apart: taken, renewed in the background, given back.

Rules and record are those of client-go 0.36 `tools/leaderelection`, so that either side respects the other. One thing
differs. client-go watches a foreign Lease for its whole duration before it calls the holder dead; a batch job that
waited so long would be late, so the holder's own renew time is compared with this machine's clock, with an allowance
for clocks that disagree. Should that go wrong, the holder finds at its next renewal that the Lease has changed hands,
and stops.
"""

from __future__ import annotations

import socket
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import TracebackType

import msgspec

from descheduler.kube.background import BackgroundCalls
from descheduler.kube.errors import ApiError, KubeError, TransportError
from descheduler.kube.lease_store import Lease, LeaseApi, LeaseSpec, LeaseStore, micro_time
from descheduler.kube.retry import RetryPolicy

__all__ = ["HeldLease", "LeaseHeld", "LeaseSettings", "acquire", "make_identity", "own_namespace"]

_NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_DEFAULT_NAMESPACE = "kube-system"
_CLOCK_ALLOWANCE = timedelta(seconds=10)
_MAX_RACES = 5
"""How often the Lease may change between reading and writing it, before it counts as held by somebody busy."""
_RELEASED_SECONDS = 1
"""The duration of a Lease that nobody holds, as client-go leaves it; the API wants one above zero."""


class LeaseHeld(KubeError):  # noqa: N818 - an answer callers act on, named after what it says
    """Another run is under way, so this one has nothing to do."""


class _LeaseLost(KubeError):  # noqa: N818 - as above
    """Somebody else holds the Lease, or it was deleted."""


@dataclass(frozen=True, slots=True)
class LeaseSettings:
    """Which Lease, and for how long it holds without being renewed.

    It is renewed every `renew_seconds`, by default a third of its duration, and given up for lost after two thirds
    without success, while the others still respect it.
    """

    namespace: str
    name: str
    duration_seconds: int = 60
    renew_seconds: float | None = None

    def __post_init__(self) -> None:
        if self.duration_seconds < 1:
            raise ValueError(f"duration_seconds is {self.duration_seconds}, at least 1 is needed")

    @property
    def period_seconds(self) -> float:
        """The time from one renewal to the next."""
        return self.duration_seconds / 3 if self.renew_seconds is None else self.renew_seconds

    @property
    def patience_seconds(self) -> float:
        """The time after which a Lease that could not be renewed counts as lost."""
        return self.duration_seconds * 2 / 3


def make_identity() -> str:
    """A name for this run that no other run has, in upstream's form: `<hostname>_<uuid>`."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"


def own_namespace(file: Path = _NAMESPACE_FILE) -> str:
    """The namespace of the pod that this runs in, `kube-system` outside of pods."""
    try:
        return file.read_text("utf-8").strip() or _DEFAULT_NAMESPACE
    except (OSError, UnicodeDecodeError):
        return _DEFAULT_NAMESPACE


def acquire(
    client: LeaseApi,
    settings: LeaseSettings,
    *,
    retry: RetryPolicy,
    identity: str | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    clock: Callable[[], float] = time.monotonic,
) -> HeldLease:
    """The Lease, held by `identity` from now on; enter it as a context to have it renewed and given back.

    A Lease whose holder is dead is taken over. Raises LeaseHeld when a live run holds it or takes it first, ApiError
    when it may not be read or written, TransportError. `now` gives aware times, `clock` monotonic seconds.
    """
    store = LeaseStore(client, settings.namespace, settings.name)
    identity = identity or make_identity()
    for _ in range(_MAX_RACES):
        asked_at = clock()
        # An attempt starts by reading, so a write whose answer was lost is found and not made twice.
        lease = retry.call(lambda: _take(store, settings, identity, now()))
        if lease is not None:
            return HeldLease(store, lease, settings, identity, renewed_at=asked_at, now=now, clock=clock)
    raise LeaseHeld(f"{store.subject} is being taken by other runs; nothing was done")


def _take(store: LeaseStore, settings: LeaseSettings, identity: str, now: datetime) -> Lease | None:
    """The Lease once it is taken; None when it changed while it was looked at."""
    lease = store.read()
    held_from = micro_time(now)
    spec = LeaseSpec(identity, settings.duration_seconds, held_from, held_from, 0)
    if lease is None:
        return store.create(spec)
    found = lease.spec
    if found.holder_identity == identity:
        return lease
    expires_at = found.expires_at
    if expires_at is not None and now < expires_at + _CLOCK_ALLOWANCE:
        raise LeaseHeld(
            f"another run is under way: {found.holder_identity} holds {store.subject} and renewed it at "
            f"{found.renew_time}; nothing was done"
        )
    transitions = (found.lease_transitions or 0) + 1
    return store.replace(lease, msgspec.structs.replace(spec, lease_transitions=transitions))


class HeldLease:
    """A Lease that this run holds. As a context it is renewed by a thread of its own, and given back at the end."""

    def __init__(
        self,
        store: LeaseStore,
        lease: Lease,
        settings: LeaseSettings,
        identity: str,
        *,
        renewed_at: float,
        now: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._lease = lease
        self._settings = settings
        self._identity = identity
        self._renewed_at = renewed_at
        self._now = now
        self._clock = clock
        self._stop: threading.Event | None = None
        self._ended = threading.Event()
        self._loss = ""
        # A call that hangs must not keep the run from noticing that its time is over.
        self._calls: BackgroundCalls[Lease] = BackgroundCalls(1, name="lease")
        self._keeper = threading.Thread(target=self._keep, name="lease-keeper", daemon=True)

    @property
    def loss(self) -> str:
        """Why the Lease is lost, in one sentence; empty while it is held."""
        return self._loss

    def stopping(self, stop: threading.Event) -> HeldLease:
        """This Lease, which sets `stop` as soon as it is lost."""
        self._stop = stop
        return self

    def __enter__(self) -> HeldLease:
        self._keeper.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def renew(self) -> None:
        """Renews once; tries again until the patience for it ends. Sets `loss` when the Lease is lost."""
        give_up_at = self._renewed_at + self._settings.patience_seconds
        fault = ""
        while not self._loss:
            asked_at = self._clock()
            try:
                renewal = self._calls.submit(self._renew_once)
                self._lease = renewal.result(timeout=max(0.0, give_up_at - asked_at))
            except TimeoutError:
                fault = fault or "no answer came"
            except _LeaseLost as error:
                self._lose(str(error))
                return
            except (TransportError, ApiError) as error:
                if isinstance(error, ApiError) and not error.is_transient:
                    self._lose(f"{self._store.subject} cannot be renewed: {error}")
                    return
                fault = str(error)
            except KubeError as error:
                fault = str(error)
            else:
                self._renewed_at = asked_at
                return
            left_seconds = give_up_at - self._clock()
            if left_seconds <= 0:
                seconds = self._settings.patience_seconds
                self._lose(f"{self._store.subject} could not be renewed for {seconds:g} s: {fault}")
            elif self._ended.wait(min(self._settings.period_seconds / 4, left_seconds)):
                return

    def release(self, timeout_seconds: float = 5.0) -> None:
        """Ends renewing and gives the Lease back, unless it is lost; waits for `timeout_seconds` at most.

        A Lease that could not be given back runs out by itself.
        """
        self._ended.set()
        give_up_at = self._clock() + timeout_seconds
        if self._keeper.ident is not None:
            self._keeper.join(timeout_seconds)
        if not self._loss and not self._keeper.is_alive():
            released = self._calls.submit(self._release_once)
            with suppress(TimeoutError, KubeError):
                released.result(timeout=max(0.0, give_up_at - self._clock()))
        self._calls.close()

    def _keep(self) -> None:
        while not self._loss and not self._ended.wait(self._settings.period_seconds):
            self.renew()

    def _lose(self, why: str) -> None:
        self._loss = why
        if self._stop is not None:
            self._stop.set()

    def _renew_once(self) -> Lease:
        return self._write(partial(msgspec.structs.replace, renew_time=micro_time(self._now())))

    def _release_once(self) -> Lease:
        now = micro_time(self._now())
        return self._write(
            lambda spec: LeaseSpec(None, _RELEASED_SECONDS, now, now, spec.lease_transitions, spec.strategy)
        )

    def _write(self, change: Callable[[LeaseSpec], LeaseSpec]) -> Lease:
        """The Lease with a changed spec. Raises _LeaseLost when it is no longer this run's."""
        lease = self._lease
        written = self._store.replace(lease, change(lease.spec))
        if written is not None:
            return written
        # Changed since: by this run itself, when an earlier answer was lost, by a label that somebody set, or for good.
        found = self._store.read()
        if found is None:
            raise _LeaseLost(f"{self._store.subject} was deleted")
        if found.spec.holder_identity != self._identity:
            raise _LeaseLost(f"{self._store.subject} was taken over by {found.spec.holder_identity or 'nobody'}")
        written = self._store.replace(found, change(found.spec))
        if written is None:
            raise TransportError(f"{self._store.subject} is being changed by somebody else")
        return written

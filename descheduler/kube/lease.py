"""The lock that keeps two runs apart: taken, renewed in the background, given back.

Rules and record are those of client-go 0.36 `tools/leaderelection`, so that either side respects the other. One thing
differs. client-go watches a foreign Lease for its whole duration before it calls the holder dead; a batch job that
waited so long would be late, so the holder's own renew time is compared with this machine's clock, with an allowance
for clocks that disagree. Should that go wrong, the holder finds at its next renewal that the Lease has changed hands,
and stops. Times that cannot be true are not compared; there the holder is watched, as client-go does.

A holder that was suspended wakes up with a Lease that has run out meanwhile, and nothing tells it. So it asks
`why_not_current` before each call: that compares the clocks with the last renewal.
"""

from __future__ import annotations

import socket
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType

import msgspec

from descheduler.kube.background import BackgroundCalls
from descheduler.kube.errors import KubeError, TransportError
from descheduler.kube.lease_claim import Claim, believable_seconds, shown_holder, weigh_claim
from descheduler.kube.lease_store import Lease, LeaseApi, LeaseSpec, LeaseStore, micro_time
from descheduler.kube.retry import RetryPolicy

__all__ = ["HeldLease", "LeaseHeld", "LeaseSettings", "acquire", "give_back", "make_identity", "own_namespace"]

_NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_DEFAULT_NAMESPACE = "kube-system"
_SLICE_SECONDS = 0.1
"""How long a renewal may be deaf to the end of the run."""
_LONGEST_POLL_SECONDS = 2.0
"""How often a holder in doubt is looked at, as client-go's retry period has it."""
_MAX_RACES = 5
"""How often the Lease may change between reading and writing it, before it counts as held by somebody busy."""
_RELEASE_SECONDS = 5.0
_RELEASED_SECONDS = 1
"""The duration of a Lease that nobody holds, as client-go leaves it; the API wants one above zero."""


class LeaseHeld(KubeError):  # noqa: N818 - an answer callers act on, named after what it says
    """Another run is under way, so this one has nothing to do."""


class _Doubtful(KubeError):  # noqa: N818 - as above
    """Somebody holds the Lease by times that cannot be true."""

    def __init__(self, spec: LeaseSpec) -> None:
        super().__init__("")
        self.spec = spec


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


def awake_clock() -> float:
    """Seconds of a monotonic clock that goes on while the machine is suspended, where the system has one."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def acquire(
    client: LeaseApi,
    settings: LeaseSettings,
    *,
    retry: RetryPolicy,
    identity: str | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    clock: Callable[[], float] = awake_clock,
    check: Callable[[], None] = lambda: None,
    tell: Callable[[str], None] = lambda text: None,
) -> HeldLease:
    """The Lease, held by `identity` from now on; enter it as a context to have it renewed and given back.

    A Lease whose holder is dead is taken over. Where its times cannot tell whether it is, it is watched for as long as
    it lasts, and taken over if it was not renewed meanwhile. Raises LeaseHeld when a live run holds it or takes it
    first, ApiError when it may not be read or written, TransportError. `now` gives aware times, `clock` monotonic
    seconds. `check` is called before each write and while watching, and may raise to end it. `tell` is called with
    a sentence when watching begins.
    """
    store = LeaseStore(client, settings.namespace, settings.name)
    identity = identity or make_identity()
    dead: LeaseSpec | None = None
    for _ in range(_MAX_RACES):
        asked_at, asked_on = clock(), now()
        try:
            # An attempt starts by reading, so a write whose answer was lost is found and not made twice.
            lease = retry.call(lambda: _take(store, settings, identity, now(), check=check, dead=dead))  # noqa: B023
        except _Doubtful as doubt:
            tell(_why_watched(doubt.spec, settings))
            dead = _watch(store, doubt.spec, settings, retry=retry, clock=clock, check=check)
            continue
        if lease is not None:
            renewed = _Renewal(asked_at, asked_on)
            return HeldLease(store, lease, settings, identity, renewed=renewed, now=now, clock=clock)
    raise LeaseHeld(f"{store.subject} is being taken by other runs; nothing was done")


def _take(
    store: LeaseStore,
    settings: LeaseSettings,
    identity: str,
    now: datetime,
    *,
    check: Callable[[], None],
    dead: LeaseSpec | None,
) -> Lease | None:
    """The Lease once it is taken; None when it changed while it was looked at. `dead` was not renewed for too long."""
    lease = store.read()
    held_from = micro_time(now)
    spec = LeaseSpec(identity, settings.duration_seconds, held_from, held_from, 0)
    check()
    if lease is None:
        return store.create(spec)
    found = lease.spec
    if found.holder_identity == identity:
        return lease
    claim = weigh_claim(found, now, settings.duration_seconds)
    if claim is Claim.HELD:
        raise _held_by(store, found)
    if claim is Claim.DOUBTFUL and found != dead:
        raise _Doubtful(found)
    transitions = (found.lease_transitions or 0) + 1
    return store.replace(lease, msgspec.structs.replace(spec, lease_transitions=transitions))


def _held_by(store: LeaseStore, found: LeaseSpec) -> LeaseHeld:
    return LeaseHeld(
        f"another run is under way: {shown_holder(found.holder_identity)} holds {store.subject} and renewed it at "
        f"{shown_holder(found.renew_time)}; nothing was done"
    )


def _watch_seconds(seen: LeaseSpec, settings: LeaseSettings) -> int:
    return believable_seconds(seen, settings.duration_seconds) or settings.duration_seconds


def _why_watched(seen: LeaseSpec, settings: LeaseSettings) -> str:
    seconds = _watch_seconds(seen, settings)
    field = "renewTime" if seconds == seen.lease_duration_seconds else "leaseDurationSeconds"
    return (
        f"Lease is held by {shown_holder(seen.holder_identity)} with a {field} that cannot be true; "
        f"watching it for {seconds} s"
    )


def _watch(
    store: LeaseStore,
    seen: LeaseSpec,
    settings: LeaseSettings,
    *,
    retry: RetryPolicy,
    clock: Callable[[], float],
    check: Callable[[], None],
) -> LeaseSpec:
    """`seen`, after it was not renewed for as long as it lasts. Raises LeaseHeld when its holder shows to be alive."""
    seconds = _watch_seconds(seen, settings)
    give_up_at = clock() + seconds
    while (left_seconds := give_up_at - clock()) > 0:
        check()
        retry.sleep(min(left_seconds, seconds / 4, _LONGEST_POLL_SECONDS))
        lease = retry.call(store.read)
        if lease is None or lease.spec.holder_identity != seen.holder_identity:
            break  # whatever it is now, it is not this holder's
        if lease.spec != seen:
            raise _held_by(store, lease.spec)
    return seen


def give_back(
    client: LeaseApi,
    settings: LeaseSettings,
    identity: str,
    *,
    timeout_seconds: float,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> None:
    """Gives the Lease back if `identity` holds it, as after an `acquire` that nobody waited for; not for longer than
    `timeout_seconds`. A Lease that could not be given back runs out by itself."""
    store = LeaseStore(client, settings.namespace, settings.name)

    def attempt() -> None:
        lease = store.read()
        if lease is not None and lease.spec.holder_identity == identity:
            store.replace(lease, _released(lease.spec, now()))

    calls: BackgroundCalls[None] = BackgroundCalls(1, name="lease")
    with suppress(TimeoutError, KubeError):
        calls.submit(attempt).result(timeout=timeout_seconds)
    calls.close()


def _released(spec: LeaseSpec, now: datetime) -> LeaseSpec:
    at = micro_time(now)
    return LeaseSpec(None, _RELEASED_SECONDS, at, at, spec.lease_transitions, spec.strategy)


@dataclass(frozen=True, slots=True)
class _Renewal:
    """When the last renewal that succeeded was asked for, by a monotonic clock in seconds and by the wall clock."""

    at: float
    on: datetime


class HeldLease:
    """A Lease that this run holds. As a context it is renewed by a thread of its own, and given back at the end."""

    def __init__(
        self,
        store: LeaseStore,
        lease: Lease,
        settings: LeaseSettings,
        identity: str,
        *,
        renewed: _Renewal,
        now: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._lease = lease
        self._settings = settings
        self._identity = identity
        self._renewed = renewed
        self._now = now
        self._clock = clock
        self._stop: threading.Event | None = None
        self._release_seconds: Callable[[], float] = lambda: _RELEASE_SECONDS
        self._ended = threading.Event()
        self._loss = ""
        # A call that hangs must not keep the run from noticing that its time is over, nor from giving the Lease back.
        self._calls: BackgroundCalls[Lease] = BackgroundCalls(2, name="lease")
        self._keeper = threading.Thread(target=self._keep, name="lease-keeper", daemon=True)

    @property
    def loss(self) -> str:
        """Why the Lease is lost, in one sentence; empty while it is held."""
        return self._loss

    def stopping(
        self, stop: threading.Event, *, release_seconds: Callable[[], float] = lambda: _RELEASE_SECONDS
    ) -> HeldLease:
        """This Lease, which sets `stop` as soon as it is lost.

        `release_seconds` says at the end of the context how long giving it back may take.
        """
        self._stop = stop
        self._release_seconds = release_seconds
        return self

    def why_not_current(self) -> str:
        """Why no call may start any more, in one sentence; empty while others must respect this Lease.

        To be asked right before each call, from any thread. A run that was suspended for two thirds of the duration
        has lost the Lease, whatever it says: the last third is for a call that is just being sent. Two clocks bear
        witness, since neither goes on through every kind of suspension.
        """
        if not self._loss:
            renewed = self._renewed
            idle_seconds = max(self._clock() - renewed.at, (self._now() - renewed.on).total_seconds())
            if idle_seconds >= self._settings.patience_seconds:
                self._lose(f"{self._store.subject} was not renewed for {idle_seconds:.0f} s")
        return self._loss

    def __enter__(self) -> HeldLease:
        self._keeper.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release(self._release_seconds())

    def renew(self) -> None:
        """Renews once; tries again until the patience for it ends. Sets `loss` when the Lease is lost."""
        give_up_at = self._renewed.at + self._settings.patience_seconds
        fault = ""
        while not self._loss:
            asked = _Renewal(self._clock(), self._now())
            try:
                self._lease = self._answer(self._calls.submit(self._renew_once), give_up_at)
            except TimeoutError:
                fault = fault or "no answer came"
            except _LeaseLost as error:
                self._lose(str(error))
                return
            except KubeError as error:
                fault = str(error)
            except Exception as error:  # this thread has to go on: the run relies on what it notices
                fault = f"internal error ({type(error).__name__})"
            else:
                self._renewed = asked
                return
            left_seconds = give_up_at - self._clock()
            if left_seconds <= 0:
                seconds = self._settings.patience_seconds
                self._lose(f"{self._store.subject} could not be renewed for {seconds:g} s: {fault}")
            elif self._ended.wait(min(self._settings.period_seconds / 4, left_seconds)):
                return

    def _answer(self, renewal: Future[Lease], give_up_at: float) -> Lease:
        """What a renewal gives. Raises TimeoutError at `give_up_at`, and as soon as the run ends."""
        while True:
            left_seconds = 0.0 if self._ended.is_set() else max(0.0, give_up_at - self._clock())
            try:
                return renewal.result(timeout=min(left_seconds, _SLICE_SECONDS))
            except TimeoutError:
                if left_seconds <= _SLICE_SECONDS:
                    raise

    def release(self, timeout_seconds: float = _RELEASE_SECONDS) -> None:
        """Ends renewing and gives the Lease back if it is still this run's; waits for `timeout_seconds` at most.

        The server is asked even if this run holds the Lease for lost, as after a renewal that came too late: the next
        run need not wait then. A Lease that could not be given back runs out by itself.
        """
        self._ended.set()
        give_up_at = self._clock() + timeout_seconds
        if self._keeper.ident is not None:
            self._keeper.join(timeout_seconds)
        released = self._calls.submit(self._release_once)
        with suppress(Exception):  # whatever it is, it must not hide how the run ended
            released.result(timeout=max(0.0, give_up_at - self._clock()))
        self._calls.close()

    def _keep(self) -> None:
        while not self._loss and not self._ended.wait(self._settings.period_seconds):
            self.renew()

    def _lose(self, why: str) -> None:
        self._loss = self._loss or why
        if self._stop is not None:
            self._stop.set()

    def _renew_once(self) -> Lease:
        return self._write(partial(msgspec.structs.replace, renew_time=micro_time(self._now())))

    def _release_once(self) -> Lease:
        return self._write(lambda spec: _released(spec, self._now()))

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
            raise _LeaseLost(f"{self._store.subject} was taken over by {shown_holder(found.spec.holder_identity)}")
        written = self._store.replace(found, change(found.spec))
        if written is None:
            raise TransportError(f"{self._store.subject} is being changed by somebody else")
        return written

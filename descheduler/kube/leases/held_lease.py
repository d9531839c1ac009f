"""The lock that keeps two runs apart while a run has it: renewed in the background, then given back or left to run out.

A holder that was suspended wakes up with a Lease that has run out meanwhile, and nothing tells it. So it asks
`why_not_current` before each call: that compares the clocks with the last renewal.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from types import TracebackType

import msgspec

from descheduler.kube.background import BackgroundCalls
from descheduler.kube.leases.settings import LeaseSettings
from descheduler.kube.leases.store import Lease, LeaseSpec, LeaseStore
from descheduler.model.text.printable import clipped
from descheduler.transport.errors import ExchangeError, TransportError

CLOCK_ALLOWANCE_SECONDS = 10
"""For clocks that disagree."""

_LONGEST_SECONDS = 24 * 60 * 60
"""The longest duration that is believed, unless this run's own is longer: a batch job renews every third of it, and
no run waits longer for one that died."""

_LONGEST_SHOWN = 100


class Claim(Enum):
    """What a Lease says of its holder."""

    UNSET = "unset"
    """Never seen."""
    FREE = "free"
    """It is free: without a holder, or expired."""
    HELD = "held"
    """Its holder is alive, as far as its times say."""
    DOUBTFUL = "doubtful"
    """Its times cannot be true: whether the holder is alive shows only when it renews."""


def believable_seconds(spec: LeaseSpec, own_seconds: int) -> int:
    """The duration of the Lease in seconds; `own_seconds`, that of this run, where it cannot be meant."""
    found = max(0, spec.lease_duration_seconds or 0)
    return found if found <= max(_LONGEST_SECONDS, own_seconds) else own_seconds


def weigh_claim(spec: LeaseSpec, now: datetime, own_seconds: int) -> Claim:
    """How `spec` is to be taken at `now`, an aware time, by a run whose own Lease lasts `own_seconds`.

    A renewal that lies further ahead than the duration and the allowance for clocks is not believed, nor is a duration
    above a day: respected as they stand, they would keep every other run away for years.
    """
    renewed_seconds = spec.renewed_seconds
    if not spec.holder_identity or renewed_seconds is None:
        return Claim.FREE
    duration_seconds = believable_seconds(spec, own_seconds)
    patience_seconds = duration_seconds + CLOCK_ALLOWANCE_SECONDS
    age_seconds = _since_epoch(now) - renewed_seconds
    if age_seconds >= patience_seconds:
        return Claim.FREE
    is_believable = duration_seconds == max(0, spec.lease_duration_seconds or 0) and -age_seconds <= patience_seconds
    return Claim.HELD if is_believable else Claim.DOUBTFUL


def shown_holder(text: str | None) -> str:
    """A text of somebody else's for a message: on one line, without what does not print, and not too long."""
    return clipped(text, _LONGEST_SHOWN) if text else "an unnamed holder"


def _since_epoch(at: datetime) -> float:
    return (at - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()


_SLICE_SECONDS = 0.1
"""How long a renewal may be deaf to the end of the run."""
_RELEASE_SECONDS = 5.0


class _LeaseLost(ExchangeError):  # noqa: N818 - an answer callers act on, named after what it says
    """Somebody else holds the Lease, or it was deleted."""


class _Identity(msgspec.Struct):
    uid: str = ""


_decode_identity = msgspec.json.Decoder(_Identity).decode


class Renewal(msgspec.Struct, frozen=True):
    """When the last renewal that succeeded was asked for, by a monotonic clock in seconds and by the wall clock."""

    at: float
    on: datetime


class HeldLease:
    """A Lease that this run holds. As a context it is renewed by a thread of its own, and released at the end."""

    def __init__(
        self,
        store: LeaseStore,
        lease: Lease,
        settings: LeaseSettings,
        identity: str,
        *,
        renewed: Renewal,
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
        self.find_open_seconds: Callable[[], float] = lambda: 0.0
        """For how long a call that this run has made may still take effect; 0 when none can."""
        self._ended = threading.Event()
        self._loss = ""
        # A call that hangs must not keep the run from noticing that its time is over, nor from giving the Lease back.
        self._calls: BackgroundCalls[Lease] = BackgroundCalls(2, name="lease")
        self._keeper = threading.Thread(target=self._keep, name="lease-keeper", daemon=True)

    @property
    def settings(self) -> LeaseSettings:
        """Its name, and how it is held."""
        return self._settings

    @property
    def uid(self) -> str:
        return _decode_identity(self._lease.metadata).uid

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
            asked = Renewal(self._clock(), self._now())
            try:
                self._lease = self._answer(self._calls.submit(self._renew_once), give_up_at)
            except TimeoutError:
                fault = fault or "no answer came"
            except _LeaseLost as error:
                self._lose(str(error))
                return
            except ExchangeError as error:
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

        While a call of this run may still take effect the Lease is not given back, but left to run out just after that:
        another run would count what it finds, and exceed a limit by that call. The server is asked even if this run
        holds the Lease for lost, as after a renewal that came too late: the next run need not wait then. A Lease that
        cannot be written runs out by itself.
        """
        self._ended.set()
        give_up_at = self._clock() + timeout_seconds
        if self._keeper.ident is not None:
            self._keeper.join(timeout_seconds)
        released = self._calls.submit(partial(self._release_once, math.ceil(self.find_open_seconds())))
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
        return self._write(lambda spec: spec.renewed(self._now()))

    def _release_once(self, open_seconds: int) -> Lease:
        if open_seconds > 0:
            return self._write(lambda spec: spec.left(self._now(), open_seconds))
        return self._write(lambda spec: spec.released(self._now()))

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
            raise TransportError(f"{self._store.subject} is being changed by another client")
        return written

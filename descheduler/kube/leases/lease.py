"""The lock that keeps two runs apart: how it is taken.

Rules and record are those of client-go 0.36 `tools/leaderelection`, so that either side respects the other. One thing
differs. client-go watches a foreign Lease for its whole duration before it calls the holder dead; a batch job that
waited so long would be late, so the holder's own renew time is compared with this machine's clock, with an allowance
for clocks that disagree. Should that go wrong, the holder finds at its next renewal that the Lease has changed hands,
and stops. Times that cannot be true are not compared; there the holder is watched, as client-go does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from descheduler.kube.background import BackgroundCalls
from descheduler.kube.leases.held_lease import (
    CLOCK_ALLOWANCE_SECONDS,
    Claim,
    HeldLease,
    Renewal,
    believable_seconds,
    shown_holder,
    weigh_claim,
)
from descheduler.kube.leases.settings import LeaseSettings, make_identity
from descheduler.kube.leases.store import Lease, LeaseSpec, LeaseStore, micro_time
from descheduler.kube.retry import RetryPolicy
from descheduler.transport.errors import ExchangeError

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient

_LONGEST_POLL_SECONDS = 2.0
"""How often a holder in doubt is looked at, as client-go's retry period has it."""
_MAX_RACES = 5
"""How often the Lease may change between reading and writing it, before it counts as held by somebody busy."""


class LeaseHeld(ExchangeError):  # noqa: N818 - an answer callers act on, named after what it says
    """Another run is under way, so this one has nothing to do."""


class _Doubtful(ExchangeError):  # noqa: N818 - as above
    """Somebody holds the Lease by times that cannot be true."""

    def __init__(self, spec: LeaseSpec) -> None:
        super().__init__("")
        self.spec = spec


def awake_clock() -> float:
    """Seconds of a monotonic clock that goes on while the machine is suspended, where the system has one."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def acquire(
    client: KubeClient,
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
            renewed = Renewal(asked_at, asked_on)
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
    seconds = max(0, found.lease_duration_seconds or 0) + CLOCK_ALLOWANCE_SECONDS
    return LeaseHeld(
        f"another run is active: {shown_holder(found.holder_identity)} holds {store.subject} and renewed it at "
        f"{shown_holder(found.renew_time)}; nothing was done (if that run is dead, its lease can be taken over "
        f"{seconds:.0f} s later)"
    )


def _watch_seconds(seen: LeaseSpec, settings: LeaseSettings) -> int:
    return believable_seconds(seen, settings.duration_seconds) or settings.duration_seconds


def _why_watched(seen: LeaseSpec, settings: LeaseSettings) -> str:
    seconds = _watch_seconds(seen, settings)
    field = "renewTime" if seconds == seen.lease_duration_seconds else "leaseDurationSeconds"
    return (
        f"Lease is held by {shown_holder(seen.holder_identity)} with a {field} that is not valid; "
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
    client: KubeClient,
    settings: LeaseSettings,
    identity: str,
    *,
    timeout_seconds: float,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> None:
    """Gives the Lease back if `identity` holds it, as after an `acquire` whose caller did not wait; not for longer than
    `timeout_seconds`. A Lease that could not be given back runs out by itself."""
    store = LeaseStore(client, settings.namespace, settings.name)

    def attempt() -> None:
        lease = store.read()
        if lease is not None and lease.spec.holder_identity == identity:
            store.replace(lease, lease.spec.released(now()))

    calls: BackgroundCalls[None] = BackgroundCalls(1, name="lease")
    with suppress(TimeoutError, ExchangeError):
        calls.submit(attempt).result(timeout=timeout_seconds)
    calls.close()

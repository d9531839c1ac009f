"""What ends a live run before its work is done: the time it has, and the Lease that keeps other runs away."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from descheduler.eviction.background import Answers
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.plan.outcome import Outcome, OutcomeCode
from descheduler.supervision import RunStopped, Watch
from descheduler.telemetry.logging import fields

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient
    from descheduler.kube.leases.held_lease import HeldLease
    from descheduler.kube.leases.settings import LeaseSettings
    from descheduler.migration.dispatch.surroundings import OpenCalls
    from descheduler.migration.rounds import Decide

_logger = logging.getLogger(__name__)

NOTHING_EVICTED = "nothing was evicted"
"""What a run can say that is stopped before its first eviction."""

_GIVE_BACK_SECONDS = 1.0
_RELEASE_SECONDS = 5.0


class StopCause(msgspec.Struct, frozen=True):
    """What stopped a run early, to be read after "stopped by". `signal_number` is None when it was no signal."""

    cause: str
    signal_number: int | None = None


def take_lease(client: KubeClient, settings: LeaseSettings, watch: Watch) -> HeldLease:
    """The Lease, taken already, for use as a context; its loss, as any other that `watch` finds, ends the time.

    Raises LeaseHeld and others as `acquire`, RunStopped when the time was over first; nothing is held then.
    """
    from descheduler.kube.leases.held_lease import HeldLease
    from descheduler.kube.leases.lease import acquire, give_back
    from descheduler.kube.leases.settings import make_identity

    identity = make_identity()
    take = partial(
        acquire,
        client,
        settings,
        retry=client.retry,
        identity=identity,
        now=watch.now,
        check=watch.check,
        tell=_warn,
    )
    try:
        lease = watch.call("taking the Lease", take, undo=HeldLease.release)
    except RunStopped:
        # The server may have taken the write and never answered.
        seconds = watch.patience_seconds(_GIVE_BACK_SECONDS)
        give_back(client, settings, identity, timeout_seconds=seconds, now=watch.now)
        raise
    found_before = watch.find_loss
    watch.find_loss = lambda: lease.loss or found_before()
    return lease.stopping(watch.stop, release_seconds=partial(watch.patience_seconds, _RELEASE_SECONDS))


def _warn(text: str) -> None:
    _logger.warning("%s", text)


def decide_in_time(decide: Decide, watch: Watch) -> Decide:
    """`decide` as long as there is time. When it ends after evictions were made, the decision before holds.

    Before that, RunStopped is raised.
    """
    latest: list[Decisions] = []

    def decide_with(answers: Answers, prior_moves: Sequence[Move]) -> Decisions:
        try:
            latest.append(watch.call("deciding", partial(decide, answers, prior_moves)))
        except RunStopped:
            if not latest:
                raise
        return latest[-1]

    return decide_with


def guard_open_calls(calls: OpenCalls, lease: HeldLease | None, watch: Watch) -> None:
    """Has `lease` outlast every call that may still take effect, and `watch` name their pods if the run is broken off.

    Another run would count what it finds, and by such a call exceed the limits and budgets that both keep to.
    """
    watch.find_open = lambda: calls.pods
    if lease is not None:
        lease.find_open_seconds = partial(_told_open_seconds, calls)


def _told_open_seconds(calls: OpenCalls) -> float:
    if seconds := calls.seconds_left:
        _logger.warning(
            "Lease not released: an eviction can still take effect; the Lease expires by itself",
            extra=fields(seconds=round(seconds)),
        )
    return seconds


def find_guard(
    lease: HeldLease | None, watch: Watch, outcomes: Sequence[Outcome], tripped: str = ""
) -> StopCause | None:
    """What stopped a run that ended with `outcomes`; None when it came to its end. `tripped` is what a guard found.

    A run whose time ended when every eviction was made already was not stopped.
    """
    if lease is not None and lease.loss:
        return StopCause(f"the loss of its Lease ({lease.loss})")
    if watch.is_over and not all(outcome.is_settled for outcome in outcomes):
        return StopCause(watch.cause, watch.signal_number)
    if tripped and not all(outcome.is_settled for outcome in outcomes):
        return StopCause(tripped)
    if any(outcome.code is OutcomeCode.OVERLOADED for outcome in outcomes):
        return StopCause("an overloaded API server")
    return None

"""What ends a live run before its work is done: the time it has, and the Lease that keeps other runs away."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from descheduler.eviction.answers import Answers
from descheduler.plan.decisions import Decisions
from descheduler.plan.prior_moves import PriorMove
from descheduler.supervision import RunStopped, Watch

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient
    from descheduler.kube.lease import HeldLease, LeaseSettings
    from descheduler.migration.outcome import Outcome
    from descheduler.migration.rounds import Decide

__all__ = ["NOTHING_EVICTED", "Guard", "decide_in_time", "find_guard", "make_watch", "take_lease"]

_logger = logging.getLogger(__name__)

NOTHING_EVICTED = "nothing was evicted"
"""What a run can say that is stopped before its first eviction."""

_GIVE_BACK_SECONDS = 1.0
_RELEASE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Guard:
    """What stopped a run early, and a sentence for its report. `signal_number` is None when it was no signal."""

    cause: str
    note: str
    signal_number: int | None = None


def make_watch(stop: threading.Event, deadline_seconds: float | None, clock: Callable[[], float]) -> Watch:
    """The time of a run that begins now; ends with `stop` or, unless None, after `deadline_seconds` of `clock`."""
    return Watch(stop, deadline_seconds=deadline_seconds, promise=NOTHING_EVICTED, clock=clock)


def take_lease(client: KubeClient, settings: LeaseSettings, watch: Watch) -> HeldLease:
    """The Lease, taken already, for use as a context; its loss ends the time of `watch`.

    Raises LeaseHeld and others as `acquire`, RunStopped when the time was over first; nothing is held then.
    """
    from descheduler.kube.lease import HeldLease, acquire, give_back, make_identity

    identity = make_identity()
    take = partial(acquire, client, settings, retry=client.retry, identity=identity, check=watch.check, tell=_warn)
    try:
        lease = watch.call("taking the Lease", take, undo=HeldLease.release)
    except RunStopped:
        # The server may have taken the write and never answered.
        give_back(client, settings, identity, timeout_seconds=watch.patience_seconds(_GIVE_BACK_SECONDS))
        raise
    watch.find_loss = lambda: lease.loss
    return lease.stopping(watch.stop, release_seconds=partial(watch.patience_seconds, _RELEASE_SECONDS))


def _warn(text: str) -> None:
    _logger.warning("%s", text)


def decide_in_time(decide: Decide, watch: Watch) -> Decide:
    """`decide` as long as there is time. When it ends after evictions were made, the decision before holds.

    Before that, RunStopped is raised.
    """
    latest: list[Decisions] = []

    def decide_with(answers: Answers, prior_moves: Sequence[PriorMove]) -> Decisions:
        try:
            latest.append(watch.call("deciding", partial(decide, answers, prior_moves)))
        except RunStopped:
            if not latest:
                raise
        return latest[-1]

    return decide_with


def find_guard(lease: HeldLease | None, watch: Watch, outcomes: Iterable[Outcome]) -> Guard | None:
    """What stopped a run that ended with `outcomes`; None when it came to its end.

    A run whose time ended when every eviction was made already was not stopped.
    """
    if lease is not None and lease.loss:
        return Guard(lease.loss, f"the run was stopped: {lease.loss}")
    if watch.is_over and not all(map(_is_settled, outcomes)):
        return Guard(watch.cause, f"the run was stopped by {watch.cause}", watch.signal_number)
    return None


def _is_settled(outcome: Outcome) -> bool:
    """Whether more time would have changed nothing: evicted for certain, or not to be asked for in this run."""
    if outcome.code.value == "outcome-unknown":
        return False
    return outcome.kind.value in {"evicted", "background"} or outcome.code.value in {
        "dry-run",
        "repeated",
        "no-uid",
        "limit",
    }

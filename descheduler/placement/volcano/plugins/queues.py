"""Plugins proportion, capacity and overcommit: what queues get of the cluster, and how far beyond it jobs are admitted.

Proportion shares the cluster between queues by their weights. With capacity they deserve what they state, and borrow up
to their capability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.volcano.jobs import Job, Queue, Task
from descheduler.placement.volcano.plugins.queue_shares import UNLIMITED, QueueShare, QueueShares, sums_by_queue
from descheduler.placement.volcano.resources import (
    NOTHING,
    Amounts,
    added,
    exceeded_part,
    fits,
    fits_strictly,
    is_nothing,
    least,
    most,
    subtracted,
    total_of,
)
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import PERMIT, REJECT, Callbacks

_FACTOR = 1.2


class _Room:
    """What jobs may still be admitted to."""

    def __init__(self, session: Session, factor: float) -> None:
        nodes = session.nodes
        sums = nodes.used[:, nodes.is_there].sum(axis=1)  # of whole numbers, so the order does not matter
        used = {name: float(sums[row]) for name, row in nodes.rows.items()}
        total = {name: amount * factor for name, amount in nodes.total.items()}
        self.idle = subtracted(total, used)
        self.inqueue: Amounts = total_of(sums.inqueue for sums in sums_by_queue(session).values())

    def vote(self, job: Job) -> int:
        """Whether what is admitted and what `job` needs at least come to no more than what is idle."""
        needs = job.min_resources or NOTHING
        return PERMIT if fits_strictly(added(self.inqueue, needs), self.idle, needs) else REJECT

    def admit(self, job: Job) -> None:
        """`job` is admitted."""
        self.inqueue = added(self.inqueue, job.wanted)


def start_overcommit(session: Session, option: PluginOption) -> Callbacks:
    """The vote on admission; a factor below 1 counts as the default.

    A session that follows the cluster admits jobs as it opens, so what is idle is summed up once one asks for it.
    """
    stated = option.arguments.number("overcommit-factor", _FACTOR)
    room = cache(lambda: _Room(session, stated if stated >= 1 else _FACTOR))
    if not session.is_following:
        room()
    return Callbacks(
        job_enqueueable=lambda job: room().vote(job),
        job_enqueued=lambda job: room().admit(job),
        reopen=room.cache_clear if session.is_following else None,
    )


def start_capacity(session: Session, option: PluginOption) -> Callbacks:
    """The order and the limits of queues, and victims across queues."""
    shares = QueueShares(session)
    for account in shares.by_queue.values():
        stated = least(account.queue.deserved, account.capability, missing=UNLIMITED)
        asked = {name: min(amount, account.request.get(name, amount)) for name, amount in stated.items()}
        account.deserved = most(asked, account.queue.guarantee)
        account.borrows = True
    session.accounts["capacity"] = shares

    def preemptive(queue: Queue, task: Task) -> bool:
        account = shares.by_queue[queue.name]
        return fits_strictly(added(account.allocated, task.request), account.deserved, task.request)

    return replace(shares.callbacks(_may_lose_capacity), preemptive=preemptive)


def _may_lose_capacity(account: QueueShare, allocated: Amounts, task: Task) -> bool:
    """Whether the queue holds more than it deserves, and would keep what it is guaranteed."""
    deserved = {name: amount for name, amount in account.deserved.items() if amount or name in NOTHING}
    if deserved.keys() <= allocated.keys() and fits(allocated, deserved, missing=UNLIMITED):
        return False
    return fits(account.queue.guarantee, subtracted(allocated, task.request))


_MOST_KEPT = 256
"""Answers of earlier cycles that are kept at once."""


def start_proportion(session: Session, option: PluginOption) -> Callbacks:
    """The order and the limits of queues, and victims across queues."""
    shares = session.accounts["proportion"] = QueueShares(session)

    def deserve() -> None:
        if not _deserve(session, list(shares.by_queue.values())):
            session.fault = "Volcano ends: the guarantees of queues are more than the cluster has left for them"

    def reopen() -> None:
        shares.begin()
        deserve()

    def overused(queue: Queue) -> bool:
        account = shares.by_queue[queue.name]
        return fits(account.deserved, account.allocated)

    deserve()
    return replace(shares.callbacks(_may_lose), overused=overused, reopen=reopen)


def _deserve(session: Session, accounts: Sequence[QueueShare]) -> bool:
    """Gives each queue what it deserves; False where guarantees are too much.

    That depends on what queues ask for, which is the same before and after a pod is placed, so it is kept.
    """
    kept: dict[object, tuple[bool, Sequence[Amounts]]] = session.kept("deserved by requests", dict)
    requests = tuple([account.asked for account in accounts])
    if requests not in kept:
        if len(kept) == _MOST_KEPT:
            kept.clear()
        total, guarantees = session.nodes.total, total_of(queue.guarantee for queue in session.queues.values())
        is_enough = fits(guarantees, total) and share_out(total, accounts)
        kept[requests] = is_enough, [account.deserved for account in accounts]
    is_enough, deserved = kept[requests]
    for account, each in zip(accounts, deserved, strict=True):
        account.deserved = each
    return is_enough


def _may_lose(account: QueueShare, allocated: Amounts, task: Task) -> bool:
    return not fits(allocated, account.deserved)


def share_out(total: Amounts, accounts: Sequence[QueueShare]) -> bool:
    """Gives each queue what it deserves: its part of what is left by weight, until all have what they ask for.

    False where more is given than is left, because of a guarantee.
    """
    open_accounts = list(accounts)
    remaining = total
    while weights := sum(account.queue.weight for account in open_accounts):
        before = remaining
        grown, shrunk, left = NOTHING, NOTHING, []
        for account in open_accounts:
            old = account.deserved
            account.deserved = _deserved(account, remaining, account.queue.weight / weights)
            is_met = fits(account.request, account.deserved) or account.deserved == old
            if not is_met:
                left.append(account)
            grown = added(grown, exceeded_part(account.deserved, old))
            shrunk = added(shrunk, exceeded_part(old, account.deserved))
        open_accounts = left
        available = added(remaining, shrunk)
        if not fits(grown, available):
            return False
        remaining = subtracted(available, grown)
        if is_nothing(remaining) or remaining == before:
            break
    return True


def _deserved(account: QueueShare, remaining: Amounts, part: float) -> Amounts:
    wanted = added(account.deserved, {name: amount * part for name, amount in remaining.items()})
    capped = least(wanted, account.capability, missing=UNLIMITED)
    return most(least(capped, account.request), account.queue.guarantee)

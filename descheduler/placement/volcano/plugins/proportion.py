"""Plugin proportion: the cluster is shared between queues by their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.volcano.jobs import Queue, Task
from descheduler.placement.volcano.plugins.queue_shares import UNLIMITED, QueueShare, QueueShares
from descheduler.placement.volcano.resources import (
    NOTHING,
    Amounts,
    added,
    exceeded_part,
    fits,
    is_nothing,
    least,
    most,
    subtracted,
    total_of,
)
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import Callbacks

__all__ = ["share_out", "start"]

_MOST_KEPT = 256
"""Answers of earlier cycles that are kept at once."""


def start(session: Session, option: PluginOption) -> Callbacks:
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

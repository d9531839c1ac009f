"""Plugin capacity: queues deserve what they state, and borrow up to their capability."""

from __future__ import annotations

from dataclasses import replace

from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.volcano.jobs import Queue, Task
from descheduler.placement.volcano.plugins.queue_shares import UNLIMITED, QueueShare, QueueShares
from descheduler.placement.volcano.resources import (
    NOTHING,
    Amounts,
    added,
    fits,
    fits_strictly,
    least,
    most,
    subtracted,
)
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import Callbacks

__all__ = ["start"]


def start(session: Session, option: PluginOption) -> Callbacks:
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

    return replace(shares.callbacks(_may_lose), preemptive=preemptive)


def _may_lose(account: QueueShare, allocated: Amounts, task: Task) -> bool:
    """Whether the queue holds more than it deserves, and would keep what it is guaranteed."""
    deserved = {name: amount for name, amount in account.deserved.items() if amount or name in NOTHING}
    if deserved.keys() <= allocated.keys() and fits(allocated, deserved, missing=UNLIMITED):
        return False
    return fits(account.queue.guarantee, subtracted(allocated, task.request))

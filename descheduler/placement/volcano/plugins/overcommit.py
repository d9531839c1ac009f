"""Plugin overcommit: jobs are admitted beyond what the cluster has, up to a factor."""

from __future__ import annotations

from functools import cache

from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.volcano.jobs import Job
from descheduler.placement.volcano.plugins.queue_shares import sums_by_queue
from descheduler.placement.volcano.resources import (
    NOTHING,
    Amounts,
    added,
    fits_strictly,
    subtracted,
    total_of,
)
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import PERMIT, REJECT, Callbacks

__all__ = ["start"]

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


def start(session: Session, option: PluginOption) -> Callbacks:
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

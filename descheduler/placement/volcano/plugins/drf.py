"""Plugin drf: jobs that hold the smaller part of the cluster come first, by their dominant resource."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.volcano.jobs import Job, Task
from descheduler.placement.volcano.plugins.queue_tree import QueueTree
from descheduler.placement.volcano.resources import Amounts, added, named, share, subtracted
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import Callbacks, Victims

__all__ = ["DominantShares", "start"]

_DELTA = 1e-6


class DominantShares:
    """What each job holds, as plugins are told of it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.total = session.nodes.total
        self.tree: QueueTree | None = None
        """With `enableHierarchy`."""
        self.allocated: dict[str, Amounts] = {job.id: job.allocated for job in session.jobs.values()}

    def share_of(self, amounts: Amounts) -> float:
        """The largest part of a resource of the cluster that `amounts` is."""
        return max((share(amounts.get(name, 0.0), self.total[name]) for name in named(self.total)), default=0.0)

    def of(self, job: Job) -> float:
        """The share of a job."""
        return self.share_of(self.allocated[job.id])

    def add(self, task: Task) -> None:
        """`task` holds room."""
        self.allocated[task.job] = added(self.allocated[task.job], task.request)

    def remove(self, task: Task) -> None:
        """It does no longer."""
        self.allocated[task.job] = subtracted(self.allocated[task.job], task.request)

    def preemptable(self, initiator: Task, candidates: Sequence[Task]) -> Victims:
        """Those whose job, without them and the candidates before, still has the larger share, or the same."""
        own = self.share_of(added(self.allocated[initiator.job], initiator.request))
        held: dict[str, Amounts] = {}
        victims = []
        for task in candidates:
            held[task.job] = subtracted(held.get(task.job, self.allocated[task.job]), task.request)
            left = self.share_of(held[task.job])
            if own < left or abs(own - left) <= _DELTA:
                victims.append(task)
        return Victims(victims)


def start(session: Session, option: PluginOption) -> Callbacks:
    """The order of jobs and victims within a queue; with `enableHierarchy` the order of queues and victims across."""
    shares = DominantShares(session)
    tree = shares.tree = QueueTree(session, shares.allocated) if option.is_hierarchical else None
    session.accounts["drf"] = shares

    def allocated(task: Task) -> None:
        shares.add(task)
        if tree is not None:
            tree.update(task)

    def deallocated(task: Task) -> None:
        shares.remove(task)
        if tree is not None:
            tree.update(task)

    return Callbacks(
        job_order=lambda left, right: shares.of(left) - shares.of(right),
        preemptable=shares.preemptable,
        queue_order=None if tree is None else tree.order,
        reclaimable=None if tree is None else tree.reclaimable,
        allocated=allocated,
        deallocated=deallocated,
    )

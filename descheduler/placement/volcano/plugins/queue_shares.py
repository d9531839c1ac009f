"""What plugins that share the cluster between queues keep of each queue."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from descheduler.placement.volcano.jobs import Job, Queue, Task
from descheduler.placement.volcano.resources import (
    NOTHING,
    Amounts,
    added,
    exceeded_part,
    fits_strictly,
    named,
    share,
    subtracted,
    total_of,
)
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import PERMIT, REJECT, Callbacks, Victims

UNLIMITED = math.inf
_MOST_KEPT = 16
"""Sums of a queue that are kept, on average."""


class JobSums(NamedTuple):
    """What all jobs of a queue hold, ask for, hold beyond their least resources, and wait for once admitted."""

    allocated: Amounts
    request: Amounts
    elastic: Amounts
    inqueue: Amounts
    asked: frozenset[tuple[str, float]]
    """The same as `request`."""


def sums_by_queue(session: Session) -> Mapping[str, JobSums]:
    """The sums of each queue that owns jobs, by name; those of a queue whose jobs are as once before are kept."""
    kept: dict[object, JobSums] = session.kept("sums by queue", dict)
    jobs = session.kept("jobs by queue", lambda: _by_queue(session.jobs.values()))
    if len(kept) > _MOST_KEPT * len(jobs):
        kept.clear()
    found = {}
    for name, of_queue in jobs.items():
        state = (name, *[(job.state, job.phase) for job in of_queue])
        sums = kept.get(state)
        found[name] = kept[state] = _sums(of_queue) if sums is None else sums
    return found


def _by_queue(jobs: Iterable[Job]) -> Mapping[str, Sequence[Job]]:
    """The jobs of each queue, in name order."""
    found: dict[str, list[Job]] = {}
    for job in jobs:
        found.setdefault(job.queue, []).append(job)
    return dict(sorted(found.items()))


def _sums(jobs: Sequence[Job]) -> JobSums:
    request = total_of(job.requested for job in jobs)
    return JobSums(
        total_of(job.allocated for job in jobs),
        request,
        total_of(job.elastic for job in jobs),
        total_of(job.inqueue for job in jobs),
        frozenset(request.items()),
    )


class QueueShare:
    """The account of one queue. `capability` is the most that it may hold; what it does not name is unlimited."""

    def __init__(self, queue: Queue, sums: JobSums, capability: Amounts) -> None:
        self.queue = queue
        self.allocated = sums.allocated
        self.request, self.asked = sums.request, sums.asked
        self.elastic = sums.elastic
        self.inqueue = sums.inqueue
        self.capability = capability
        self.deserved: Amounts = NOTHING
        self.borrows = False
        """Whether it may hold more than it deserves, up to its capability."""

    @property
    def limit(self) -> Amounts:
        """The most that it may hold."""
        return self.capability if self.borrows else self.deserved

    @property
    def share(self) -> float:
        """The largest part that it holds of what it deserves."""
        return max(
            (share(self.allocated.get(name, 0.0), self.deserved[name]) for name in named(self.deserved)), default=0.0
        )


def _capabilities(session: Session) -> Mapping[str, Amounts]:
    """What each queue may hold beside the guarantees of all others, by name."""
    free = exceeded_part(session.nodes.total, total_of(queue.guarantee for queue in session.queues.values()))
    return {name: _capability(queue, added(free, queue.guarantee)) for name, queue in session.queues.items()}


def _capability(queue: Queue, real: Amounts) -> Amounts:
    others = {name: amount for name, amount in queue.capability.items() if name not in real}
    return {name: min(amount, _limit(queue, name)) for name, amount in real.items()} | others


def _limit(queue: Queue, name: str) -> float:
    """The most of a resource that a queue may hold by its own words."""
    stated = queue.capability.get(name, UNLIMITED)
    return UNLIMITED if name in NOTHING and stated <= 0 else stated


MayLose: TypeAlias = Callable[[QueueShare, Amounts, Task], bool]
"""Whether a queue that holds so much may lose a task."""


class QueueShares:
    """The accounts of all queues that own jobs, in name order, kept up to date."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._capabilities = session.kept("capabilities", lambda: _capabilities(session))
        self.by_queue: Mapping[str, QueueShare] = {}
        self.begin()

    def begin(self) -> None:
        """Begins a cycle."""
        queues, capabilities = self._session.queues, self._capabilities
        self.by_queue = {
            name: QueueShare(queues[name], sums, capabilities[name])
            for name, sums in sums_by_queue(self._session).items()
        }

    def of(self, task: Task) -> QueueShare:
        """The account that a task is on."""
        return self.by_queue[self._session.job_of(task).queue]

    def order(self, left: Queue, right: Queue) -> float:
        """Higher priority first, then the smaller share."""
        if left.priority != right.priority:
            return right.priority - left.priority
        return self._share(left) - self._share(right)

    def _share(self, queue: Queue) -> float:
        return self.by_queue[queue.name].share

    def vote(self, job: Job) -> int:
        """Whether what the queue holds and has admitted, and what `job` needs at least, is within its capability.

        A job that is permitted counts as admitted, whatever others say.
        """
        account = self.by_queue[job.queue]
        needs = job.min_resources or NOTHING
        expected = subtracted(added(added(needs, account.allocated), account.inqueue), account.elastic)
        if not fits_strictly(expected, account.capability, needs):
            return REJECT
        account.inqueue = added(account.inqueue, job.wanted)
        return PERMIT

    def allocated(self, task: Task) -> None:
        """`task` holds room."""
        account = self.of(task)
        account.allocated = added(account.allocated, task.request)

    def deallocated(self, task: Task) -> None:
        """It does no longer."""
        account = self.of(task)
        account.allocated = subtracted(account.allocated, task.request)

    def callbacks(self, may_lose: MayLose) -> Callbacks:
        """What every plugin registers that shares the cluster between queues; see `victims`."""

        def reclaimable(initiator: Task, candidates: Sequence[Task]) -> Victims:
            return Victims(self.victims(initiator, candidates, may_lose))

        def allocatable(queue: Queue, task: Task) -> bool:
            account = self.by_queue[queue.name]
            return fits_strictly(added(account.allocated, task.request), account.limit, task.request)

        return Callbacks(
            queue_order=self.order,
            allocatable=allocatable,
            reclaimable=reclaimable,
            job_enqueueable=self.vote,
            allocated=self.allocated,
            deallocated=self.deallocated,
        )

    def victims(self, initiator: Task, candidates: Iterable[Task], may_lose: MayLose) -> list[Task]:
        """The candidates whose queue may lose them, one after the other; `may_lose` is told what it holds by then.

        A queue that holds less of something than the initiator asks for loses nothing.
        """
        held: dict[str, Amounts] = {}
        victims = []
        for task in candidates:
            account = self.of(task)
            allocated = held.setdefault(account.queue.name, account.allocated)
            is_small = any(allocated.get(name, 0.0) < amount for name, amount in initiator.request.items())
            if may_lose(account, allocated, task) and not is_small:
                held[account.queue.name] = subtracted(allocated, task.request)
                victims.append(task)
        return victims

"""Action enqueue: pending jobs are admitted, the best job of the best queue first."""

from __future__ import annotations

from descheduler.placement.volcano.jobs import Job, Phase, Queue
from descheduler.placement.volcano.order import Heap
from descheduler.placement.volcano.session import Session

__all__ = ["enqueue"]


def enqueue(session: Session) -> None:
    """A job without least resources is admitted at once, any other by the votes of the plugins."""
    tiers = session.tiers
    queues: Heap[Queue] = Heap(tiers.queue_is_less)
    waiting: dict[str, Heap[Job]] = {}
    for job in session.jobs.values():
        if job.is_pending:
            if job.queue not in waiting:
                waiting[job.queue] = Heap(tiers.job_is_less)
                queues.push(session.queues[job.queue])
            waiting[job.queue].push(job)
    while queues:
        queue = queues.pop()
        if not waiting[queue.name]:
            continue
        job = waiting[queue.name].pop()
        if job.min_resources is None or tiers.votes_for("job_enqueueable", job):
            tiers.tell_enabled("job_enqueued", job)
            job.phase = Phase.INQUEUE.value
        queues.push(queue)

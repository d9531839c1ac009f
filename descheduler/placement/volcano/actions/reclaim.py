"""Action reclaim: tasks of queues that are not overused take the room of other queues."""

from __future__ import annotations

from descheduler.placement.volcano.actions.candidates import (
    curable_nodes,
    may_suffice,
    nodes_in_order,
    victims_in_order,
    victims_on,
)
from descheduler.placement.volcano.jobs import Job, Queue, Status, Task
from descheduler.placement.volcano.order import Heap
from descheduler.placement.volcano.resources import NOTHING, added, fits
from descheduler.placement.volcano.session import Session

__all__ = ["reclaim"]


def reclaim(session: Session, only: Job | None = None) -> None:
    """The best task of the best job of the best queue is tried. What was evicted stays so, room or not.

    With `only` no other job takes room.
    """
    tiers = session.tiers
    queues: Heap[Queue] = Heap(tiers.queue_is_less)
    jobs: dict[str, Heap[Job]] = {}
    tasks: dict[str, Heap[Task]] = {}
    for job, queue in session.valid_jobs():
        if queue.name not in jobs:
            jobs[queue.name] = Heap(tiers.job_is_less)
            queues.push(queue)
        if only in (None, job) and job.counts[Status.PENDING]:
            jobs[queue.name].push(job)
            waiting = (task for task in job.of_status(Status.PENDING) if not task.is_gated)
            tasks[job.id] = Heap(tiers.task_is_less, waiting)
    while queues:
        queue = queues.pop()
        if tiers.any_of("overused", queue) or not jobs[queue.name]:
            continue
        job = jobs[queue.name].pop()
        if not tasks[job.id]:
            continue
        task = tasks[job.id].pop()
        if not (tiers.all_of("allocatable", queue, task) and tiers.all_of("preemptive", queue, task)):
            continue
        if _make_room(session, task):
            jobs[queue.name].push(job)
        queues.push(queue)


def _make_room(session: Session, task: Task) -> bool:
    """Whether `task` waits on some node for the room of those that go there."""
    for node in nodes_in_order(session, task, curable_nodes(session, task)):
        victims = victims_on(session, "reclaimable", task, node, lambda other: _is_candidate(session, task, other))
        if victims is None or not may_suffice(session, task, node, victims):
            continue
        waiting, reclaimed = victims_in_order(session, victims), NOTHING
        while waiting:
            victim = waiting.pop()
            session.release(victim)
            session.evict(victim)
            reclaimed = added(reclaimed, victim.request)
            if fits(task.request, reclaimed):
                break
        if fits(task.request, reclaimed):
            session.pipeline(task, node)
            return True
    return False


def _is_candidate(session: Session, task: Task, other: Task) -> bool:
    if other.status is not Status.RUNNING or not other.is_preemptable or other.job not in session.jobs:
        return False
    queue = session.queues[session.job_of(other).queue]
    return queue.name != session.job_of(task).queue and queue.is_reclaimable

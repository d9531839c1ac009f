"""Action backfill: tasks that ask for nothing get nodes."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.placement.volcano.jobs import Job, Queue, Status, Task
from descheduler.placement.volcano.order import Heap
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import OPEN
from tests.placement.volcano.cycle.allocate import best_node


def backfill(session: Session) -> None:
    """The first task that fits nowhere ends it. What a job has allocated is bound once it is ready."""
    for task in _waiting(session):
        open_nodes = session.nodes.is_there & (session.codes(task) == OPEN)
        if not open_nodes.any():
            return
        session.allocate(task, best_node(session, task, open_nodes))
        job = session.job_of(task)
        if session.tiers.all_of("job_ready", job):
            for each in list(job.of_status(Status.ALLOCATED)):
                session.bind(each)


def _waiting(session: Session) -> list[Task]:
    """The tasks in the order of queues, jobs and tasks; those that wait for room wait no longer."""
    tiers = session.tiers
    by_queue: dict[str, dict[str, Heap[Task]]] = {}
    for job, queue in session.valid_jobs():
        for task in list(job.of_status(Status.PENDING, Status.PIPELINED)):
            if not task.is_best_effort or (task.is_gated and task.status is Status.PENDING):
                continue
            if task.status is Status.PIPELINED:
                session.take_back(task)
            by_queue.setdefault(queue.name, {}).setdefault(job.id, Heap(tiers.task_is_less)).push(task)
    found: list[Task] = []
    queues: Heap[Queue] = Heap(tiers.queue_is_less, (session.queues[name] for name in by_queue))
    while queues:
        of_queue = by_queue[queues.pop().name]
        jobs: Heap[Job] = Heap(tiers.job_is_less, (session.jobs[name] for name in of_queue))
        while jobs:
            found += _popped(of_queue[jobs.pop().id])
    return found


def _popped(tasks: Heap[Task]) -> Iterator[Task]:
    while tasks:
        yield tasks.pop()

"""Action preempt: tasks of starving jobs take the room of other jobs of their queue, then of their own job."""

from __future__ import annotations

from collections.abc import Callable

from descheduler.placement.volcano.actions.candidates import (
    FailedNodes,
    curable_nodes,
    may_suffice,
    nodes_in_order,
    victims_in_order,
    victims_on,
)
from descheduler.placement.volcano.jobs import Job, Queue, Status, Task
from descheduler.placement.volcano.order import Heap
from descheduler.placement.volcano.session import Session, Statement

__all__ = ["preempt"]

IsCandidate = Callable[[Task], bool]


def preempt(session: Session, only: Job | None = None) -> None:
    """Queue by queue, in any order; within a queue in job order. At the end plugins name victims of their own.

    Tasks of all starving jobs are tried within their own jobs after each queue. Queues that come later try only those
    that are left over from that.

    With `only` no other job takes room, and plugins name none.
    """
    tiers = session.tiers
    queues: dict[str, Queue] = {}
    starving: dict[str, Heap[Job]] = {}
    under_request: list[Job] = []
    for job, queue in session.valid_jobs():
        queues[queue.name] = queue
        if only in (None, job) and tiers.is_starving(job):
            starving.setdefault(queue.name, Heap(tiers.job_is_less)).push(job)
            under_request.append(job)
    failed = FailedNodes(session)
    tasks = {job.id: Heap(tiers.task_is_less, _pending(job)) for job in under_request}
    for name in session.choices.shuffled(queues):
        if name in starving:
            _between_jobs(session, failed, starving[name], tasks)
        for job in session.choices.shuffled(under_request):
            tasks[job.id] = Heap(tiers.task_is_less, _pending(job))
            _within_job(session, failed, tasks[job.id])
    for task in _own_victims(session) if only is None else ():
        session.release(task)
        session.evict(task)


def _pending(job: Job) -> list[Task]:
    return [task for task in job.of_status(Status.PENDING) if not task.is_gated]


def _between_jobs(session: Session, failed: FailedNodes, jobs: Heap[Job], tasks: dict[str, Heap[Task]]) -> None:
    while jobs:
        job = jobs.pop()
        statement = Statement(session)
        is_assigned = False
        while session.tiers.is_starving(job) and tasks[job.id]:
            task = tasks[job.id].pop()
            is_assigned = _make_room(session, statement, failed, task, _of_other_jobs(session, job, task))
        if not session.tiers.votes_for("job_pipelined", job):
            statement.discard()
            continue
        statement.commit()
        if is_assigned:
            jobs.push(job)


def _within_job(session: Session, failed: FailedNodes, tasks: Heap[Task]) -> None:
    is_assigned = True
    while tasks and is_assigned:
        task = tasks.pop()
        statement = Statement(session)
        is_assigned = _make_room(session, statement, failed, task, _of_own_job(task))
        statement.commit()


def _of_other_jobs(session: Session, job: Job, task: Task) -> IsCandidate:
    def is_candidate(other: Task) -> bool:
        found = session.jobs.get(other.job)
        is_of_queue = found is not None and found.queue == job.queue and found.id != job.id
        return is_of_queue and _may_go(task, other)

    return is_candidate


def _of_own_job(task: Task) -> IsCandidate:
    return lambda other: other.job == task.job and _may_go(task, other)


def _may_go(task: Task, other: Task) -> bool:
    return other.can_be_preempted and other.is_preemptable and (other.is_best_effort or not task.is_best_effort)


def _make_room(
    session: Session, statement: Statement, failed: FailedNodes, task: Task, is_candidate: IsCandidate
) -> bool:
    """Whether `task` waits on some node for the room of those that go there. Nodes are tried by score."""
    nodes, queue = session.nodes, session.queues[session.job_of(task).queue]
    asked = nodes.is_there.copy()
    asked[list(session.job_of(task).refused.get(task.uid, ()))] = False
    found = failed.left(task, asked, curable_nodes(session, task))
    scores = session.tiers.scores(task, found)
    in_any_order = session.choices.raced(nodes_in_order(session, task, found))
    for node in sorted(in_any_order, key=lambda each: -scores[each]):
        victims = victims_on(session, "preemptable", task, node, is_candidate) or ()
        if not may_suffice(session, task, node, victims):
            continue
        waiting = victims_in_order(session, victims)
        while waiting and not _fits(session, queue, task, node):
            statement.release(waiting.pop())
        if _fits(session, queue, task, node):
            statement.pipeline(task, node)
            return True
    return False


def _fits(session: Session, queue: Queue, task: Task, node: int) -> bool:
    nodes = session.nodes
    return session.tiers.all_of("allocatable", queue, task) and nodes.has(nodes.future_idle, node, task.request)


def _own_victims(session: Session) -> list[Task]:
    """What plugins evict of their own accord: those of the first tier that names any."""
    for tier in session.tiers.of("victim_tasks"):
        found: dict[str, Task] = {}
        for callback in tier:
            named = callback(())
            found |= {task.uid: task for task in named} if isinstance(named, list | tuple) else {}
        if found:
            return list(found.values())
    return []

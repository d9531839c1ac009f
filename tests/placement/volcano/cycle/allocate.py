"""Action allocate: tasks of admitted jobs get nodes, and the jobs that become ready are bound."""

from __future__ import annotations

from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.volcano.actions import FailedNodes
from descheduler.placement.volcano.jobs import Job, Phase, Queue, Status, Task
from descheduler.placement.volcano.order import Heap
from descheduler.placement.volcano.session import Session, Statement
from descheduler.placement.volcano.tiers import OPEN, UNRESOLVABLE


def allocate(session: Session) -> None:
    """The best job of the best queue that is not overused is tried, until nothing is left to try."""
    tiers = session.tiers
    queues: Heap[Queue] = Heap(tiers.queue_is_less)
    jobs: dict[str, Heap[Job]] = {}
    tasks: dict[str, Heap[Task]] = {}
    if "enqueue" not in session.configuration.actions:
        for job in session.jobs.values():
            job.phase = Phase.INQUEUE.value if job.is_pending else job.phase
    for job, queue in session.valid_jobs():
        if queue.name not in jobs:
            jobs[queue.name] = Heap(tiers.job_is_less)
            queues.push(queue)
        jobs[queue.name].push(job)
    while queues:
        queue = queues.pop()
        if tiers.any_of("overused", queue) or not jobs[queue.name]:
            continue
        job = jobs[queue.name].pop()
        if job.id not in tasks:
            tasks[job.id] = Heap(tiers.task_is_less, _pending(job))
        if tasks[job.id] and _place(session, queue, job, tasks[job.id]):
            jobs[queue.name].push(job)
        queues.push(queue)


def _role_failed(job: Job, task: Task) -> bool:
    """Whether a task of the same role found no node in this cycle."""
    return bool(task.role) and any(job.tasks[uid].role == task.role for uid in job.refused)


def _pending(job: Job) -> list[Task]:
    return [task for task in job.of_status(Status.PENDING) if not (task.is_gated or task.is_best_effort)]


def _place(session: Session, queue: Queue, job: Job, tasks: Heap[Task]) -> bool:
    """Tries the tasks of `job` until it is ready; whether it is to be tried again."""
    statement, failed = Statement(session), FailedNodes(session)
    is_ready = False
    while tasks and not is_ready:
        task = tasks.pop()
        if not session.tiers.all_of("allocatable", queue, task) or _role_failed(job, task):
            continue
        if not _place_task(session, statement, failed, task):
            if job.goes_on:
                continue
            break
        is_ready = session.tiers.all_of("job_ready", job) and bool(tasks)
    if session.tiers.all_of("job_ready", job):
        statement.commit()
    elif not session.tiers.votes_for("job_pipelined", job):
        statement.discard()
    return is_ready


def _place_task(session: Session, statement: Statement, failed: FailedNodes, task: Task) -> bool:
    """Whether `task` has found a node: one with room now if there is any, else one where room is released."""
    nodes = session.nodes
    codes = session.codes(task)
    has_room = nodes.have(nodes.future_idle, task.request)
    open_nodes = failed.left(task, nodes.is_there, has_room & (codes == OPEN))
    if not open_nodes.any():
        is_final = has_room & (codes == UNRESOLVABLE)
        session.job_of(task).refused[task.uid] = frozenset(is_final.nonzero()[0].tolist())
        return False
    idle = open_nodes & nodes.have(nodes.idle, task.request)
    if idle.any():
        statement.allocate(task, best_node(session, task, idle))
    else:
        statement.pipeline(task, best_node(session, task, open_nodes))
    return True


def best_node(session: Session, task: Task, nodes: BoolMask) -> int:
    """The node of the highest score; a single one is taken without."""
    found = nodes.nonzero()[0]
    if len(found) > 1:
        scores = session.tiers.scores(task, nodes)[found]
        found = found[scores == scores.max()]
    return int(found[session.choices.index(len(found))])

"""The actions of a session: enqueue admits pending jobs, preempt and reclaim make room for tasks that wait.

Tasks of starving jobs preempt other jobs of their queue, then their own job; tasks of queues that are not overused
reclaim the room of other queues.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.volcano.jobs import Job, Phase, Queue, Status, Task
from descheduler.placement.volcano.order import Heap
from descheduler.placement.volcano.resources import NOTHING, added, fits, total_of
from descheduler.placement.volcano.session import Session, Statement
from descheduler.placement.volcano.tiers import OPEN, UNSCHEDULABLE


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


class FailedNodes:
    """Nodes that have refused a task, for other tasks of its job and role: Volcano does not ask them again.

    Tasks without a role may be of any form, and nothing is kept of them.
    """

    def __init__(self, session: Session) -> None:
        action = session.arguments_of(session.action)
        self._is_kept = action.switch("predicateErrorCacheEnable", default=True)
        self._failed: dict[tuple[str, str], BoolMask] = {}

    def left(self, task: Task, asked: BoolMask, passed: BoolMask) -> BoolMask:
        """The nodes of `passed` without those that have refused before; of `asked` the others refuse now."""
        if not (task.role and self._is_kept):
            return passed
        kind = task.job, task.role
        failed = self._failed.get(kind)
        found = passed if failed is None else passed & ~failed
        now = asked & ~found
        self._failed[kind] = now if failed is None else failed | now
        return found


def curable_nodes(session: Session, task: Task) -> BoolMask:
    """The nodes that may take `task` once pods are gone from them."""
    codes = session.codes(task)
    found: BoolMask = session.nodes.is_there & ((codes == OPEN) | (codes == UNSCHEDULABLE))
    refused = session.job_of(task).refused.get(task.uid, frozenset())
    found[list(refused)] = False
    return found


def nodes_in_order(session: Session, task: Task, nodes: BoolMask) -> Sequence[int]:
    """`nodes` as Volcano lists them: those that are not beyond help come out of a map where some others are."""
    found = [node for node in session.node_order if nodes[node]]
    return session.choices.shuffled(found) if session.job_of(task).refused.get(task.uid) else found


def victims_on(
    session: Session, point: str, task: Task, node: int, is_candidate: Callable[[Task], bool]
) -> Sequence[Task] | None:
    """The tasks on `node` that may go for `task`; None where there is no candidate."""
    candidates = [each for each in session.nodes.tasks[node].values() if is_candidate(each)]
    if not candidates:
        return None
    return session.tiers.victims(point, task, session.choices.shuffled(candidates))


def may_suffice(session: Session, task: Task, node: int, victims: Sequence[Task]) -> bool:
    """Whether `task` has room on `node` once all `victims` are gone."""
    nodes = session.nodes
    return nodes.has(nodes.future_idle, node, task.request, total_of(victim.request for victim in victims))


def victims_in_order(session: Session, victims: Sequence[Task]) -> Heap[Task]:
    """`victims`, the first to go first: the last task of the last job of the last queue."""
    tiers = session.tiers

    def is_less(left: Task, right: Task) -> bool:
        if left.job == right.job:
            return not tiers.task_is_less(left, right)
        jobs = session.job_of(left), session.job_of(right)
        if jobs[0].queue != jobs[1].queue:
            return not tiers.queue_is_less(session.queues[jobs[0].queue], session.queues[jobs[1].queue])
        return not tiers.job_is_less(*jobs)

    return Heap(is_less, victims)


IsCandidate = Callable[[Task], bool]


def preempt(session: Session, only: Job | None = None) -> None:
    """Queue by queue, in any order; within a queue in job order.

    Tasks of all starving jobs are tried within their own jobs after each queue. Queues that come later try only those
    that are left over from that.

    With `only` no other job takes room.
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
        if _reclaim_room(session, task):
            jobs[queue.name].push(job)
        queues.push(queue)


def _reclaim_room(session: Session, task: Task) -> bool:
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

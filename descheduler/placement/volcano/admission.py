"""What keeps a task from being tried, its job, its queue or its gang, and how pods that are placed one after another
bear on each other by these.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

import numpy as np

from descheduler.cluster.kinds import KINDS
from descheduler.model.groups.volcano import POD_GROUP_KIND
from descheduler.model.pod import Pod
from descheduler.model.requests import PODS
from descheduler.model.text.amounts import amount_of_most
from descheduler.placement.framework.interactions import (
    BY_REQUESTS,
    GatheredPods,
    Interplay,
    JoinedInteractions,
    Meetings,
    meeting_each_other,
)
from descheduler.placement.framework.obstacle import Code, Obstacle, Said
from descheduler.placement.volcano.jobs import Job, Queue, Status, Task
from descheduler.placement.volcano.live_session import AskedTask, LiveSession
from descheduler.placement.volcano.plugins.kube_scheduler import KubeFilters
from descheduler.placement.volcano.plugins.queue_shares import UNLIMITED, QueueShare, QueueShares
from descheduler.placement.volcano.resources import NOTHING, Amounts, added, whole_units
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import DecidingPlugin

_QUEUE, _MINIMUM = "queue", "minMember"
_PREDICATES = "predicates"
_SCHEDULER, _ENQUEUE, _GANG = "volcano", "enqueue", "gang"


class _Cautious(Interplay):
    """Of filters that are not those of kube-scheduler anything may be expected."""


class VolcanoInterplay(Interplay):
    """Jobs that need no pod beside the one that is placed are bound pod by pod: their queue and the nodes decide.

    What a queue may hold depends on what all pods ask for that exist, not on their nodes, and so does the admission of
    a job that no other one waits for as well. Pods of any other job that needs more pods to run wait for each other and
    for its admission, on which every pod bears that takes room.
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        session = live.opened_last
        deciding = {name for tier in session.tiers.named("predicate") for name, _ in tier}
        filters = session.accounts.get(_PREDICATES)
        self._nodes: Interplay = _Cautious()
        if not deciding:
            self._nodes = JoinedInteractions({_SCHEDULER: BY_REQUESTS})
        elif deciding == {_PREDICATES} and isinstance(filters, KubeFilters) and not filters.is_proportional:
            self._nodes = filters.interplay
        plugins = (option.name for option in session.configuration.plugins)
        self.quotas = frozenset({_QUEUE, _SCHEDULER, _ENQUEUE, *plugins})

    def _is_bound_alone(self, pod: Pod) -> bool:
        """Whether the job of `pod` needs none of its pods but this one, as the cluster is now."""
        if self._is_complete(pod):
            return True
        job = self._live.job_of(pod)
        is_completed = job is not None and job.num_ready + 1 >= job.min_available and not job.role_minimums
        return is_completed and not self._live.has_waiting_jobs

    def _is_complete(self, pod: Pod) -> bool:
        """Whether it needs none at all."""
        job = self._live.job_of(pod)
        return job is not None and self._live.opened_last.tiers.all_of("job_ready", job)

    def _can_spare_one(self, pod: Pod) -> bool:
        """Whether it has one more than that; False where that depends on its task."""
        job = self._live.job_of(pod)
        return job is not None and not job.role_minimums and job.num_ready > job.min_available

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether others of its job complete it, or a filter may."""
        return not self._is_bound_alone(pod) or self._nodes.can_be_helped(pod)

    def is_felt_widely(self, pod: Pod) -> bool:
        """Whether a filter feels it. Queues are felt by pods of Volcano, none of which is local."""
        return self._nodes.is_felt_widely(pod)

    def hinders_while_ending(self, ending: Pod, pod: Pod) -> bool:
        """Whether it does by a filter, or holds room that counts for the admission of the job."""
        return not self._can_spare_one(pod) or self._nodes.hinders_while_ending(ending, pod)

    def interacting(self, gathered: GatheredPods, *, but_for: Container[str] = ()) -> Mapping[str, Meetings]:
        """By queues those that are in some job, by minimums every other with each of those that wait for their job."""
        found = dict(self._nodes.interacting(gathered, but_for=but_for))
        everyone = np.arange(len(gathered.pods))
        own = gathered.where(lambda pod: self._live.job_of(pod) is not None)
        waiting = gathered.where(lambda pod: not self._is_bound_alone(pod))
        rules = {_QUEUE: meeting_each_other(own), _MINIMUM: iter([(everyone, waiting)])}
        return found | {
            rule: Meetings(len(everyone), meetings) for rule, meetings in rules.items() if rule not in but_for
        }

    def reaches(self, rule: str, pod: Pod) -> bool:
        """Whether it does by a filter."""
        return self._nodes.reaches(rule, pod)

    def closing(self, gathered: GatheredPods) -> Meetings:
        """Which do by a filter."""
        return self._nodes.closing(gathered)


def barred(asked: AskedTask) -> Obstacle | None:
    """Why the next cycle looks at no node for the task; None where it does."""
    session, task, job = asked.session, asked.task, asked.job
    if session.fault:
        return _obstacle(_SCHEDULER, session.fault, Code.UNDECIDED)
    groups = session.jobs or session.cluster.snapshot.of(KINDS[POD_GROUP_KIND])
    for kind, objects in (("queues", session.queues), ("PodGroups", groups)):
        if not objects:
            return _obstacle(_SCHEDULER, f"no {kind} of Volcano were read", Code.UNDECIDED)
    if job is None:
        return _obstacle(_SCHEDULER, _without_job(session, task), Code.UNRESOLVABLE)
    action = "backfill" if task.is_best_effort else "allocate"
    if action not in session.configuration.actions:
        return _obstacle(_SCHEDULER, f"action {action} is not configured", Code.UNRESOLVABLE)
    return job_barrier(session, job, task)


def job_barrier(session: Session, job: Job, task: Task | None) -> Obstacle | None:
    """Why an opened session tries no task of `job`, or not this one; None where it does."""
    queue = session.queues[job.queue]
    if job.is_pending:
        return _not_admitted(session, job, queue)
    if fault := session.tiers.fault_of(job):
        return _obstacle(_GANG, _invalid(job, fault))
    return None if task is None or task.is_best_effort else _without_share(session, queue, task)


def gang_shortage(asked: AskedTask, tasks: Iterable[Task]) -> tuple[Obstacle, ...]:
    """What keeps the job from being bound even if each of `tasks` has a node; nothing where it is bound."""
    job, session = asked.job, asked.session
    if job is None:
        return ()
    waiting = [task for task in tasks if task.status is Status.PENDING]
    for task in waiting:
        job.set_status(task, Status.ALLOCATED)
    found = () if session.tiers.all_of("job_ready", job) else (_obstacle(_GANG, _shortage(job)),)
    for task in waiting:
        job.set_status(task, Status.PENDING)
    return found


def _shortage(job: Job) -> str:
    for role, least in job.role_minimums.items():
        counts = job.num_by_role()
        if counts[role] < least and job.min_available >= job.role_minimum_total:
            return f"gang {job.id} has {counts[role]} of {least} tasks {role} that it needs (minTaskMember)"
    num_ready = job.num_ready + job.num_pending_best_effort
    return f"gang {job.id} has {num_ready} of {job.min_available} tasks that it needs (minMember)"


def _obstacle(plugin: str, text: str, code: Code = Code.UNSCHEDULABLE) -> Obstacle:
    return Obstacle.of(plugin, code, Said.alike(text))


def _without_job(session: Session, task: Task) -> str:
    group = next(
        (each for each in session.cluster.snapshot.of(KINDS[POD_GROUP_KIND]) if each.gang_id == task.job), None
    )
    if group is None:
        return f"PodGroup {task.job} does not exist"
    return f"queue {group.queue} of PodGroup {task.job} does not exist"


def _not_admitted(session: Session, job: Job, queue: Queue) -> Obstacle:
    decider = session.tiers.rejected.get(job.id, DecidingPlugin("enqueue", 0))
    account = _account(session, decider.plugin, queue)
    needs = job.min_resources or NOTHING
    why = "" if account is None else _excess(added(needs, account.allocated), account.capability, needs)
    text = f"job {job.id} is not admitted to queue {queue.name} ({_who(decider)}: minResources do not fit{why})"
    return _obstacle(decider.plugin, text)


def _invalid(job: Job, fault: str) -> str:
    return f"job {job.id} has {job.num_valid} of {job.min_available} tasks that it needs ({fault})"


def _without_share(session: Session, queue: Queue, task: Task) -> Obstacle | None:
    """Why the queue gets nothing more for `task`."""
    tiers = session.tiers
    if (decider := tiers.decider("overused", queue, answer=True)) is not None:
        account = _account(session, decider.plugin, queue)
        why = "" if account is None else _excess(added(account.allocated, task.request), account.deserved, task.request)
        return _obstacle(decider.plugin, f"queue {queue.name} holds all that it deserves ({_who(decider)}{why})")
    if (decider := tiers.decider("allocatable", queue, task, answer=False)) is not None:
        account = _account(session, decider.plugin, queue)
        why = "" if account is None else _excess(added(account.allocated, task.request), account.limit, task.request)
        return _obstacle(decider.plugin, f"queue {queue.name} has no room for the pod ({_who(decider)}{why})")
    return None


def _account(session: Session, plugin: str, queue: Queue) -> QueueShare | None:
    shares = session.accounts.get(plugin)
    return shares.by_queue.get(queue.name) if isinstance(shares, QueueShares) else None


def _who(decider: DecidingPlugin) -> str:
    return f"plugin {decider.plugin} in tier {decider.tier}" if decider.tier else f"action {decider.plugin}"


def _excess(wanted: Amounts, most: Amounts, asked: Amounts) -> str:
    """The resources of which more is wanted than there may be."""
    found: Sequence[str] = [
        amount_of_most(name, whole_units(name, wanted.get(name, 0.0)), whole_units(name, most.get(name, 0.0)))
        for name, amount in asked.items()
        if amount > 0 and name != PODS and wanted.get(name, 0.0) > most.get(name, UNLIMITED)
    ]
    return f"; {', '.join(found)}" if found else ""

"""Plugins gang, priority and sla: which jobs come first, and which are bound and taken whole or not at all; conformance
and pdb: pods of the system are not evicted, others within what PodDisruptionBudgets allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from descheduler.model.text.duration import parse_duration
from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.volcano.jobs import Job, Status, Task
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import ABSTAIN, PERMIT, REJECT, Callbacks, Victims, as_before

_CLASSES = frozenset({"system-cluster-critical", "system-node-critical"})
_NAMESPACE = "kube-system"


def start_conformance(session: Session, option: PluginOption) -> Callbacks:
    """Victims outside of `kube-system` and of the two classes of the system."""

    def spare(initiator: Task, candidates: Sequence[Task]) -> Victims:
        return Victims([task for task in candidates if not _is_of_system(task)])

    return Callbacks(preemptable=spare, reclaimable=spare, reopen=as_before)


def _is_of_system(task: Task) -> bool:
    return task.pod.namespace == _NAMESPACE or task.pod.spec.priority_class_name in _CLASSES


def start_pdb(session: Session, option: PluginOption) -> Callbacks:
    """Victims that leave no budget below zero; a pod without labels is none, and every candidate counts."""
    snapshot = session.cluster.snapshot

    def take(task: Task, left: dict[str, int]) -> bool:
        keys = [budget.key for budget in snapshot.budgets_of(task.pod) if not budget.selector.is_empty]
        for key in keys:
            left[key] -= 1
        return all(left[key] >= 0 for key in keys)

    def spare(initiator: Task, candidates: Sequence[Task]) -> Victims:
        left = {budget.key: budget.stated_allowed for budget in snapshot.budgets}
        return Victims([task for task in candidates if task.pod.labels and take(task, left)])

    return Callbacks(preemptable=spare, reclaimable=spare, reopen=as_before)


_WAITING_TIME = "sla-waiting-time"
_KEYS = (f"volcano.sh/{_WAITING_TIME}", _WAITING_TIME)
"""Annotations of a PodGroup, the legacy one last."""


def start_sla(session: Session, option: PluginOption) -> Callbacks:
    """The order of jobs by the time at which their waiting ends, and a vote for those whose waiting has ended.

    Of a snapshot without a time nothing is known to have ended.
    """
    common = _waiting_time(option.arguments.text(_WAITING_TIME))
    now = session.cluster.snapshot.taken_at

    def ends_at(job: Job) -> datetime | None:
        stated = (_waiting_time(job.group.annotations.get(key, "")) for key in _KEYS)
        waiting_time = next((found for found in stated if found is not None), common)
        return None if waiting_time is None else job.created_at + waiting_time

    def order(left: Job, right: Job) -> float:
        first, second = ends_at(left), ends_at(right)
        if first is None or second is None:
            return (first is None) - (second is None)
        return (first > second) - (first < second)

    def vote(job: Job) -> int:
        end = ends_at(job)
        return PERMIT if end is not None and now is not None and end <= now else ABSTAIN

    return Callbacks(job_order=order, job_enqueueable=vote, job_pipelined=vote, reopen=as_before)


def _waiting_time(text: str) -> timedelta | None:
    """A duration above zero; None for any other text."""
    try:
        found = parse_duration(text)
    except ValueError:
        return None
    return found if found > timedelta(0) else None


def start_priority(session: Session, option: PluginOption) -> Callbacks:
    """The order of jobs and tasks, victims within a queue, and jobs that want more than their minimum."""

    def preemptable(initiator: Task, candidates: Sequence[Task]) -> Victims:
        return Victims([task for task in candidates if _is_below(session, task, initiator)])

    return Callbacks(
        task_order=lambda left, right: right.priority - left.priority,
        job_order=lambda left, right: right.priority - left.priority,
        job_starving=lambda job: job.num_ready + job.num_waiting < len(job.tasks),
        preemptable=preemptable,
        reopen=as_before,
    )


def _is_below(session: Session, task: Task, initiator: Task) -> bool:
    if task.job == initiator.job:
        return task.priority < initiator.priority
    return session.job_of(task).priority < session.job_of(initiator).priority


def start_gang(session: Session, option: PluginOption) -> Callbacks:
    """Votes, victims and conditions."""

    def spare(initiator: Task, candidates: Sequence[Task]) -> Victims:
        left: dict[str, int] = {}
        victims = []
        for task in candidates:
            job = session.job_of(task)
            ready = left.setdefault(job.id, job.num_ready)
            if ready > job.min_available:
                left[job.id] = ready - 1
                victims.append(task)
        return Victims(victims)

    def write_conditions() -> None:
        for job in session.jobs.values():
            if job.is_ready:
                job.conditions["Scheduled"] = "tasks in gang are ready to be scheduled"
            else:
                job.conditions["Unschedulable"] = "NotEnoughResources"
                job.is_unschedulable = True

    return Callbacks(
        job_valid=_fault_of,
        job_order=lambda left, right: _is_ready(left) - _is_ready(right),
        job_ready=_is_ready,
        job_pipelined=lambda job: PERMIT if job.has_roles(Status.PIPELINED) and job.is_pipelined else REJECT,
        job_starving=lambda job: job.is_starving,
        preemptable=spare,
        reclaimable=spare,
        before_close=write_conditions,
        reopen=as_before,
    )


def _is_ready(job: Job) -> bool:
    return job.has_roles() and job.is_ready


def _fault_of(job: Job) -> str:
    if not job.has_roles(Status.PIPELINED, Status.PENDING):
        return "NotEnoughPodsOfTask"
    return "NotEnoughTasks" if job.num_valid < job.min_available else ""

"""Plugin priority: higher priorities first, and lower ones make room."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import Callbacks, Victims, as_before

__all__ = ["start"]


def start(session: Session, option: PluginOption) -> Callbacks:
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

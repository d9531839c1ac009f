"""Plugin gang: a job is bound whole or not at all, and is not taken below its minimum."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.volcano.jobs import Job, Status, Task
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import PERMIT, REJECT, Callbacks, Victims, as_before

__all__ = ["start"]


def start(session: Session, option: PluginOption) -> Callbacks:
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

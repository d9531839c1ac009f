"""What admitted jobs still wait for, which plugins hold against the admission of others."""

from __future__ import annotations

from descheduler.placement.volcano.jobs import Job, Phase
from descheduler.placement.volcano.resources import NOTHING, Amounts, exceeded_part

__all__ = ["inqueue_of"]


def inqueue_of(job: Job) -> Amounts:
    """All least resources of a job that is admitted; of one that runs with enough tasks, what it does not hold yet."""
    if job.phase == Phase.INQUEUE.value:
        return job.wanted
    if job.phase == Phase.RUNNING.value and job.num_ready >= job.min_available:
        return exceeded_part(job.wanted, job.allocated)
    return NOTHING

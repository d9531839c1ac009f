"""What a run that does nothing for users' PodMigrationJobs says of those that there are."""

from __future__ import annotations

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.migration_controller.profiles import migration_controllers
from descheduler.model.text.counted import counted
from descheduler.policy.types import Policy

__all__ = ["OF_APPLY", "OF_DRY_RUN", "jobs_left_out"]

OF_APPLY = "apply evicts only pods of the plan"
OF_DRY_RUN = "a run that evicts checks them first, unless koord-descheduler runs"


def jobs_left_out(policy: Policy, snapshot: Snapshot, why: str) -> tuple[str, ...]:
    """A sentence on the jobs that a run of `policy` would decide about, and `why` this one does not; else none."""
    if not snapshot.migration_jobs or not migration_controllers(policy):
        return ()
    # Few runs have jobs to look at.
    from descheduler.eviction.migration_controller.arbitration import is_unclaimed, jobs_to_judge

    number = sum(is_unclaimed(job) and not job.is_paused for job in jobs_to_judge(snapshot))
    counts = f"{counted(number, 'PodMigrationJob')} of users {'is' if number == 1 else 'are'} not in this plan"
    return (f"{counts}: {why}",) if number else ()

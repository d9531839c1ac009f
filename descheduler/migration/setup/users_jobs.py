"""PodMigrationJobs that users have created: which of them the limits on evictions let go, and what became of all."""

from __future__ import annotations

import msgspec

from descheduler.eviction.checks.limits import EvictionCounters, EvictionLimits
from descheduler.eviction.migration_controller.arbitration import JobDecision, JobOutcome
from descheduler.plan.outcome import Outcome
from descheduler.plan.prior_moves import PriorMove

__all__ = ["JobLimits", "UsersJobs"]


class UsersJobs(msgspec.Struct, frozen=True):
    """How many jobs of users were let go, and how many of these have succeeded.

    `num_left` wait for koord-descheduler to carry them out, or seem to: its Lease may not be read. `num_limited` wait
    for the next run because of limits on evictions, of which `limit` is the first that was met. `outcomes` are those
    of the pods of jobs that were let go; `evicted` are the pods that have left, or may have, and count against limits.
    """

    num_started: int = 0
    num_succeeded: int = 0
    num_left: int = 0
    num_limited: int = 0
    limit: str = ""
    outcomes: tuple[Outcome, ...] = ()
    evicted: tuple[PriorMove, ...] = ()


class JobLimits:
    """Holds jobs back whose evictions would exceed the limits of the run, if all others before them succeed."""

    def __init__(self, limits: EvictionLimits) -> None:
        self._counters = EvictionCounters(limits)
        self.num_held = 0
        self.reached = ""
        """The first limit that was met, in words."""

    def hold(self, decision: JobDecision) -> bool:
        """Whether a job that arbitration has let go has to wait for the next run."""
        if decision.outcome is not JobOutcome.STARTED or decision.pod is None:
            return False
        verdict = self._counters.verdict(decision.pod)
        if verdict.is_accepted:
            self._counters.count(decision.pod)
            return False
        self.num_held += 1
        self.reached = self.reached or verdict.message
        return True

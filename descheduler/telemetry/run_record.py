"""What is known of a run when it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from descheduler.model.shard import WHOLE_CLUSTER, Shard
from descheduler.telemetry.observer import RunObserver

if TYPE_CHECKING:
    from descheduler.report.outcome.document import OutcomeDocument
    from descheduler.report.plan.document import Plan

_SUCCESSES = frozenset({0, 3})
"""Exit codes of runs that reached their end: done, and done with evictions that others refused."""


class RunRecord(msgspec.Struct):
    """Filled in while the run goes on. `plan` stays None when it ended before, `outcome` in a dry run as well.

    `ended_at` is in seconds since 1970.
    """

    observer: RunObserver = msgspec.field(default_factory=RunObserver)
    plan: Plan | None = None
    outcome: OutcomeDocument | None = None
    exit_code: int = 1
    ended_at: float = 0.0
    is_dry: bool = False
    shard: Shard = WHOLE_CLUSTER

    @property
    def is_success(self) -> bool:
        """Whether the run reached its end."""
        return self.exit_code in _SUCCESSES

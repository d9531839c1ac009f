"""How jobs are carried out: how many at once, and with what patience."""

from __future__ import annotations

import msgspec

from descheduler.migration.settings import ExecutorSettings

__all__ = ["ControllerSettings"]


class ControllerSettings(msgspec.Struct, frozen=True):
    """At most `most_active` jobs are under way at once; the patience with the API server is that of evictions."""

    eviction: ExecutorSettings
    most_active: int = 100
    most_errors: int = 10
    """So many looks at one job in a row may fail."""
    budget_wait_seconds: float = 5.0
    """Between two tries to evict a pod that a budget protects now."""
    budget_seconds: float = 120.0
    """For so long an eviction is asked for again that a budget refuses."""
    undo_share: float = 1 / 3
    """Of the time for calls in flight, what undoing takes at most once they have had theirs: the run has to end."""
    adopted_seconds: float = 120.0
    """For so long a job of an earlier run or a user is looked at that does not change."""
    landing_seconds: float = 120.0
    """For so long the replacement of a pod is looked for, for which no room was held."""

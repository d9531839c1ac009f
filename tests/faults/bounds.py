"""When a run has to have ended, and how much memory it may take."""

from __future__ import annotations

from tests.faults.history import Run, Terms

MOST_MEMORY_BYTES = 300_000_000
"""What a run over a few dozen pods may take: several times what it does take, and less than one huge answer."""

MOST_MEMORY_WITH_LIST_BYTES = 600_000_000
"""What it may take when a page of a list is huge, which an honest one can be."""

_AFTER_DEADLINE_SECONDS = 5.0
_AFTER_SIGNAL_SECONDS = 10.0
_WITHOUT_DEADLINE_SECONDS = 90.0
"""What repeated attempts and the waits that servers ask for can explain: a minute for reading, and as much as that
for the overload of a server, which ends a run after a minute too; the schedules are made so that both do not meet."""


def latest_end(terms: Terms, run: Run) -> float:
    """The monotonic time by which the run has to have ended, time that it was stopped for added."""
    seconds = _WITHOUT_DEADLINE_SECONDS
    if terms.deadline_seconds is not None:
        seconds = terms.deadline_seconds + _AFTER_DEADLINE_SECONDS
    latest = run.started_at + seconds
    if run.signals:
        latest = min(latest, run.signals[0][0] + _AFTER_SIGNAL_SECONDS)
    paused_seconds = sum(end - start for start, end in run.paused)
    return latest + paused_seconds


def was_too_late_for_lease(terms: Terms, run: Run) -> bool:
    """Whether this machine may have kept the run from renewing its Lease in time."""
    return terms.lease_seconds is not None and run.stalled_seconds > terms.lease_seconds / 6

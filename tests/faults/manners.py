"""Promises about time and memory."""

from __future__ import annotations

from collections.abc import Iterator

from tests.faults.bounds import MOST_MEMORY_BYTES, MOST_MEMORY_WITH_LIST_BYTES, latest_end
from tests.faults.faults import Delivery
from tests.faults.history import History


def runs_end_in_time(history: History) -> Iterator[str]:
    """A run ends within 5 s of its deadline, within 15 s of a signal, and without either some time."""
    for run in history.runs:
        over_seconds = run.ended_at - latest_end(history.terms, run) - run.stalled_seconds
        if run.was_killed or over_seconds > 0:
            seconds = run.ended_at - run.started_at
            what = "was killed after" if run.was_killed else "took"
            deadline = history.terms.deadline_seconds
            sent = f", {run.signals[0][1]} at {run.signals[0][0] - run.started_at:.1f} s" if run.signals else ""
            yield f"run {run.index} {what} {seconds:.1f} s, deadline {deadline} s{sent}"


def memory_is_bounded(history: History) -> Iterator[str]:
    """No answer makes the program take more than the bound."""
    for run in history.runs:
        has_huge_list = any(
            request.run == run.index and request.kind == "list" and Delivery.BOMB in request.fault
            for request in history.requests
        )
        if run.max_rss_bytes > (MOST_MEMORY_WITH_LIST_BYTES if has_huge_list else MOST_MEMORY_BYTES):
            yield f"run {run.index} took {run.max_rss_bytes / 1e6:,.0f} MB"

"""What a person at a terminal is shown of a run that is under way, beside the log."""

from __future__ import annotations

import logging

from descheduler.model.text.printable import printable
from descheduler.plan.search_watch import SearchWatch
from descheduler.supervision import Watch
from descheduler.telemetry.console import find_console
from descheduler.telemetry.live_lines import log_cluster
from descheduler.telemetry.observer import RunObserver
from descheduler.telemetry.progress import EvictionProgress

__all__ = ["name_cluster", "show_progress", "watched_search"]

_SHARE_FOR_SEARCH = 0.6
"""Of the time that is left before the deadline; the rest is for trying the plan out and for the report."""


def name_cluster(context: str, server: str, *, is_quiet: bool = False) -> None:
    """Says which cluster the run is about: in the log or, on a terminal that does not show it, in a line of its own."""
    log_cluster(context, server)
    console = find_console()
    if console is not None and not is_quiet and not logging.getLogger("descheduler").isEnabledFor(logging.INFO):
        where = f'context "{context}"' if context else "in-cluster"
        console.say(printable(f"Cluster: {where} at {server}"))


def show_progress(observer: RunObserver, *, is_quiet: bool = False) -> None:
    """Has the evictions that `observer` sees shown in a line of the terminal, if the log goes to one."""
    console = find_console()
    if console is not None and not is_quiet:
        observer.progress = EvictionProgress(console.show)


def watched_search(watch: Watch, *, is_dry: bool, is_quiet: bool = False) -> SearchWatch:
    """Shows how far a planner is in a line of the terminal, and has it end in time.

    In a dry run the first Ctrl-C ends the search alone: its best plan is shown. A run that evicts is stopped by it.
    """
    console = None if is_quiet else find_console()

    def note(text: str) -> None:
        watch.may_end_search = is_dry and bool(text)
        if console is not None:
            hint = " (Ctrl-C: take this plan)" if watch.may_end_search else ""
            console.show(printable(f"{text}{hint}") if text else "")

    def most_seconds() -> float | None:
        return None if watch.deadline is None else max(0.0, watch.deadline - watch.clock()) * _SHARE_FOR_SEARCH

    return SearchWatch(note, lambda: watch.is_search_over or watch.is_over, most_seconds)

"""What a person at a terminal is shown of a run that is under way, beside the log."""

from __future__ import annotations

import logging

from descheduler.model.text.printable import printable
from descheduler.telemetry.console import find_console
from descheduler.telemetry.live_lines import log_cluster
from descheduler.telemetry.observer import RunObserver
from descheduler.telemetry.progress import EvictionProgress

__all__ = ["name_cluster", "show_progress"]


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

"""The planner's trials by name, and all of them in short."""

from __future__ import annotations

from collections.abc import Callable

from descheduler.planner import Limits
from tests.bench.planner import balance, consolidate, dry_run, make_room, openb, vmr2l

__all__ = ["CASES", "CASES_OF_THE_TRACE", "report_in_short"]

CASES: dict[str, Callable[..., None]] = {
    "balance": balance.report,
    "balance-dry-run": dry_run.report,
    "consolidate": consolidate.report,
    "make-room": make_room.report,
    # Its clusters are of one size.
    "vmr2l": lambda *, nodes, **options: vmr2l.report(**options),
}
CASES_OF_THE_TRACE: dict[str, Callable[..., None]] = {
    "openb-fragmentation": openb.report_fragmentation,
    "openb-room": openb.report_room,
}
_NODES = {"balance": 100, "balance-dry-run": 100, "consolidate": 100, "make-room": 100, "vmr2l": 280}


def report_in_short(*, num_seeds: int, seconds: float, num_workers: int) -> None:
    """Every case on `num_seeds` small clusters, with `seconds` for each plan."""
    for name, report in CASES.items():
        print(f"planner, {name}: {seconds:g} s a plan, {num_workers} workers")
        report(nodes=_NODES[name], seeds=range(num_seeds), limits=Limits(seconds=seconds), num_workers=num_workers)

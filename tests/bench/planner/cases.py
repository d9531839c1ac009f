"""The planner's trials by name, and all of them in short."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from descheduler.optimizer import Limits
from tests.bench.planner import (
    balance,
    consolidate,
    dry_run,
    make_room,
    openb,
    packing_dry_run,
    vmr2l,
    zoned,
    zoned_balance,
)
from tests.bench.planner.outcomes import limit_text

CASES: dict[str, Callable[..., None]] = {
    "balance": balance.report,
    "balance-chosen-nodes": partial(dry_run.report, chooses_nodes=True),
    "balance-dry-run": dry_run.report,
    "balance-zones": zoned_balance.report,
    "balance-zones-chosen-nodes": partial(zoned_balance.report, chooses_nodes=True),
    "balance-zones-more-time": zoned_balance.report_more_time,
    "balance-zones-more-time-chosen-nodes": partial(zoned_balance.report_more_time, chooses_nodes=True),
    "consolidate": consolidate.report,
    "consolidate-chosen-nodes": partial(packing_dry_run.report_consolidation, chooses_nodes=True),
    "consolidate-dry-run": packing_dry_run.report_consolidation,
    "consolidate-more-time": packing_dry_run.report_more_time,
    "consolidate-zones": zoned.report,
    "consolidate-zones-chosen-nodes": partial(zoned.report, chooses_nodes=True),
    "consolidate-zones-more-time": zoned.report_more_time,
    "consolidate-zones-more-time-chosen-nodes": partial(zoned.report_more_time, chooses_nodes=True),
    "make-room": make_room.report,
    "make-room-chosen-nodes": partial(packing_dry_run.report_room, chooses_nodes=True),
    "make-room-dry-run": packing_dry_run.report_room,
    # Its clusters are of one size.
    "vmr2l": lambda *, nodes, **options: vmr2l.report(**options),
}
CASES_OF_THE_TRACE: dict[str, Callable[..., None]] = {
    "openb-fragmentation": openb.report_fragmentation,
    "openb-room": openb.report_room,
}
_NODES = {"vmr2l": 280}
_USUAL_NODES = 100


def report_in_short(*, num_seeds: int, limits: Limits, num_workers: int) -> None:
    """Every case on `num_seeds` small clusters, with `limits` for each plan."""
    for name, report in CASES.items():
        print(f"planner, {name}: {limit_text(limits)} a plan, {num_workers} workers")
        report(
            nodes=_NODES.get(name, _USUAL_NODES),
            seeds=range(num_seeds),
            limits=limits,
            num_workers=num_workers,
        )

"""What replacement pods get on their nodes, in a few words."""

from __future__ import annotations

from collections.abc import Iterable

from descheduler.report.plan.document import PlannedAllocation

__all__ = ["allocations_text"]


def allocations_text(allocations: Iterable[PlannedAllocation]) -> str:
    """Such as `gpu 0, 3; rdma 1`, kinds in the order in which they come; empty without any."""
    names_by_kind: dict[str, list[str]] = {}
    for allocation in allocations:
        names_by_kind.setdefault(allocation.kind, []).append(allocation.name)
    return "; ".join(f"{kind} {', '.join(names)}" for kind, names in names_by_kind.items())

"""An elastic quota as a table."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.text.amounts import amount_text
from descheduler.model.text.printable import printable
from descheduler.report.explanation.quota import QuotaFacts
from descheduler.report.tables.table_style import TableStyle

__all__ = ["quota_table"]


def quota_table(quota: QuotaFacts, style: TableStyle) -> Iterator[str]:
    """What the quota may use, and what its pods do."""
    parent = f", parent {quota.parent}" if quota.parent else ""
    yield from style.heading(printable(f"Elastic quota {quota.name}{parent}"))
    rows = [
        [
            each.resource,
            amount_text(each.resource, each.min),
            _limit(each.resource, each.max),
            _limit(each.resource, each.runtime),
            amount_text(each.resource, each.used),
            amount_text(each.resource, each.requested),
            amount_text(each.resource, each.pod),
        ]
        for each in quota.resources
    ]
    yield from style.table(["RESOURCE", "MIN", "MAX", "RUNTIME", "USED", "REQUESTED", "POD"], rows)


def _limit(resource: str, amount: int | None) -> str:
    return "unlimited" if amount is None else amount_text(resource, amount)

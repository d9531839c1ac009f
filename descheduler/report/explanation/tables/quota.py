"""Elastic quotas as tables."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.text.amounts import amount_text
from descheduler.model.text.printable import printable
from descheduler.report.explanation.quota import QuotaExplanation, QuotaFacts, QuotaResource
from descheduler.report.tables.table_style import TableStyle

__all__ = ["quota_explanation_table", "quota_table"]


def quota_table(quota: QuotaFacts, style: TableStyle) -> Iterator[str]:
    """What the quota of a pod may use, what its pods do, and what this one requests."""
    yield from _heading(quota, style)
    rows = [[*_amounts(each), amount_text(each.resource, each.pod)] for each in quota.resources]
    yield from style.table([*_HEADER, "POD"], rows)


def quota_explanation_table(explanation: QuotaExplanation, style: TableStyle) -> Iterator[str]:
    """What a quota may use and what its pods do, the same of those below it, and why any is over its limit."""
    facts = explanation.facts
    yield from _heading(facts, style)
    yield from style.table(_HEADER, [_amounts(each) for each in facts.resources])
    rows = [[printable(child.name), *_amounts(each)] for child in explanation.children for each in child.resources]
    yield from style.table(["CHILD", *_HEADER], rows)
    for note in explanation.notes:
        yield from style.paragraph(printable(note))
    if explanation.notes:
        yield ""


_HEADER = ["RESOURCE", "MIN", "MAX", "RUNTIME", "USED", "REQUESTED"]


def _heading(quota: QuotaFacts, style: TableStyle) -> Iterator[str]:
    parent = f", parent {quota.parent}" if quota.parent else ""
    yield from style.heading(printable(f"Elastic quota {quota.name}{parent}"))


def _amounts(each: QuotaResource) -> list[str]:
    return [
        each.resource,
        amount_text(each.resource, each.min),
        _limit(each.resource, each.max),
        _limit(each.resource, each.runtime),
        amount_text(each.resource, each.used),
        amount_text(each.resource, each.requested),
    ]


def _limit(resource: str, amount: int | None) -> str:
    return "unlimited" if amount is None else amount_text(resource, amount)

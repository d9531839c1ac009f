"""PodDisruptionBudgets as a table."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.text.printable import printable
from descheduler.report.explanation.budget import BudgetFacts, BudgetsExplanation
from descheduler.report.tables.table_style import TableStyle

__all__ = ["budgets_table"]

_HEADER = ["NAMESPACE", "NAME", "RULE", "ALLOWED", "HEALTHY", "REQUIRED", "EXPECTED", "PODS", "WHY NONE"]


def budgets_table(explanation: BudgetsExplanation, style: TableStyle) -> Iterator[str]:
    """A row for each budget: what it allows now, from which figures, and why nothing."""
    yield from style.heading("PodDisruptionBudgets")
    if not explanation.budgets:
        yield "none"
        yield ""
        return
    yield from style.table(_HEADER, [_row(each) for each in explanation.budgets])


def _row(each: BudgetFacts) -> list[str]:
    return [
        printable(each.namespace),
        printable(each.name),
        printable(each.rule) or "-",
        _count(each.disruptions_allowed),
        _count(each.current_healthy),
        _count(each.desired_healthy),
        _count(each.expected_pods),
        _count(each.num_pods),
        printable(each.why_none) or "-",
    ]


def _count(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"

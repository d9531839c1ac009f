"""The mark of targets that depend on a condition, and the conditions below the rows that have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from descheduler.report.document import PodReference
from descheduler.report.tables.columns import Row
from descheduler.report.tables.table_style import TableStyle

__all__ = ["condition_table", "marked"]

_MARK = "(if)"
_MOST_CONDITIONS = 10
"""Rows in a table that is not wide."""


def marked(node: str) -> str:
    """The node of a replacement pod that can be scheduled there only under a condition."""
    return f"{node} {_MARK}"


def condition_table(pods: Iterable[tuple[PodReference, Sequence[str]]], style: TableStyle) -> Iterator[str]:
    """Each condition once, with the pods whose targets depend on it; nothing where none does."""
    by_condition: dict[str, list[PodReference]] = {}
    for pod, conditions in pods:
        for condition in conditions:
            by_condition.setdefault(condition, []).append(pod)
    all_rows = [_row(condition, its_pods) for condition, its_pods in by_condition.items()]
    rows = all_rows if style.is_wide else all_rows[:_MOST_CONDITIONS]
    title = f"Conditions of targets marked {_MARK}"
    if len(rows) < len(all_rows):
        title += f": {len(rows):,} of {len(all_rows):,}; -o wide shows all"
    yield from style.table(["PODS", "FIRST POD", "CONDITION"], rows, title=title)


def _row(condition: str, pods: Sequence[PodReference]) -> Row:
    return [f"{len(pods):,}", f"{pods[0].namespace}/{pods[0].name}", condition]

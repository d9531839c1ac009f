"""Pods that wait for what is explained, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from descheduler.report.explanation.waiting import WaitingPod
from descheduler.report.tables.table_style import TableStyle

__all__ = ["waiting_table"]


def waiting_table(waiting: Sequence[WaitingPod], style: TableStyle, title: str) -> Iterator[str]:
    """The pods that were looked at, and how many others there are."""
    looked_at = [each for each in waiting if each.message]
    rows = [[each.pod.namespace, each.pod.name, each.message] for each in looked_at]
    yield from style.table(["NAMESPACE", title, "REASON"], rows)
    if len(looked_at) < len(waiting):
        yield f"{len(waiting) - len(looked_at):,} more pods wait; explain pod says why"
        yield ""

"""What `explain` prints about small clusters of koord-scheduler."""

from __future__ import annotations

from dataclasses import replace

from descheduler.explanation.explaining import Subject, explain
from descheduler.explanation.settings import settings_for
from descheduler.report.explanation.document import Explanation
from descheduler.report.explanation.tables.explanation import explanation_table
from descheduler.report.tables.table_style import TableStyle
from tests.builders import NOW, Object
from tests.placement.plugins.reservation.worlds import snapshot_of

__all__ = ["explained", "table"]


def explained(subject: Subject, name: str, *objects: Object) -> Explanation:
    """The document about one thing."""
    snapshot = replace(snapshot_of(*objects), taken_at=NOW)
    return explain(subject, name, snapshot, policy=None, settings=settings_for(None), now=NOW)


def table(subject: Subject, name: str, *objects: Object) -> str:
    """The same as people see it, without blanks at the ends of lines."""
    lines = explanation_table(explained(subject, name, *objects), TableStyle())
    return "\n".join(line.rstrip() for line in lines)

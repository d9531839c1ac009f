"""What `explain` prints about small clusters of koord-scheduler."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from descheduler.documents.fields import Fields
from descheduler.explanation.explaining import Explanation, explain, settings_for
from descheduler.report.tables.table_style import TableStyle
from tests.builders import NOW, Object
from tests.placement.plugins.reservation.worlds import snapshot_of

Part = TypeVar("Part", bound=Fields)


def explained(document: type[Part], type_name: str, name: str, *objects: Object) -> Part:
    """What is said about one thing."""
    answer = _explanation(type_name, name, *objects).answer
    assert isinstance(answer, document)
    return answer


def table(type_name: str, name: str, *objects: Object) -> str:
    """The same as people see it, without blanks at the ends of lines."""
    lines = _explanation(type_name, name, *objects).table(TableStyle())
    return "\n".join(line.rstrip() for line in lines)


def _explanation(type_name: str, name: str, *objects: Object) -> Explanation:
    snapshot = replace(snapshot_of(*objects), taken_at=NOW)
    return explain(type_name, name, snapshot, policy=None, settings=settings_for(None), now=NOW)

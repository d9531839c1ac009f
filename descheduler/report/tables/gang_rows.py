"""Members of a gang, or pods of one order, that are not evicted for one cause, which a table tells on one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from descheduler.model.text.counted import counted
from descheduler.model.verdict import Reason
from descheduler.report.document import PodReference


class _Refused(Protocol):
    """A row about a pod; `code`, `message` and `subject` say what blocks its eviction, if anything does."""

    @property
    def pod(self) -> PodReference: ...

    @property
    def plugin(self) -> str: ...

    @property
    def code(self) -> str: ...

    @property
    def message(self) -> str: ...

    @property
    def subject(self) -> str: ...


RowT = TypeVar("RowT", bound=_Refused)


def by_gang(rows: Iterable[RowT]) -> list[list[RowT]]:
    """`rows` in their order, those together that say the same of members of one gang, or of pods whose replacements
    compete with others; all others alone."""
    groups: dict[object, list[RowT]] = {}
    for index, row in enumerate(rows):
        key = (row.plugin, row.code, row.subject, row.message) if _is_of_several(row) else index
        groups.setdefault(key, []).append(row)
    return list(groups.values())


def _is_of_several(row: _Refused) -> bool:
    """Whether a gang is what blocks the eviction, or the order in which replacements come.

    Nothing but a gang is the subject of a pod without a node to go to.
    """
    is_of_no_node = row.code == Reason.NO_LANDING.value and bool(row.subject)
    return is_of_no_node or row.code in (Reason.GANG_MINIMUM.value, Reason.ORDER_DEPENDENT.value)


def shown_pods(group: Sequence[_Refused]) -> str:
    """The pod, or the first one of several and how many more there are."""
    name = group[0].pod.name
    return name if len(group) == 1 else f"{name} and {len(group) - 1:,} more"


def shown_nodes(nodes: Iterable[str | None]) -> str:
    """The node, or how many there are."""
    names = {node for node in nodes if node}
    return names.pop() if len(names) == 1 else counted(len(names), "node") if names else ""

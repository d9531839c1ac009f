"""The column TARGET: where replacement pods are scheduled, or why they are not, and what its marks mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from descheduler.report.plan.document import PlannedLanding, Target
from descheduler.report.tables.columns import Cell, Toned
from descheduler.report.tables.conditions import marked
from descheduler.report.tables.palette import Tone
from descheduler.report.tables.table_style import TableStyle

__all__ = ["NO_NEW_POD", "target_cell", "target_legend"]

NO_NEW_POD = "no new pod"
_ENDS_JOB, _SAME_NODE = "Job ends", "(same node)"
_LIKELY, _PENDING, _UNKNOWN = "~", "pending", "unknown"
_MEANINGS = {
    _LIKELY: "~ = likely, not certain",
    _SAME_NODE: f"{_SAME_NODE} = the replacement pod is scheduled onto the node that the pod is evicted from",
    _PENDING: f"{_PENDING} = no node is available for the replacement pod",
    _UNKNOWN: f"{_UNKNOWN} = it cannot be predicted",
    NO_NEW_POD: f"{NO_NEW_POD} = the owner creates no replacement pod",
    _ENDS_JOB: f"{_ENDS_JOB} = the eviction fails or ends the Job",
    "": "- = not predicted",
}
"""What a cell is or has → its meaning."""


def target_cell(landing: PlannedLanding | Target, node: str) -> Cell:
    """Where a replacement is scheduled, or that it is not."""
    match landing.returns:
        case "owner ends":
            return Toned(_ENDS_JOB, Tone.FAILURE)
        case "not created" if not node:
            return NO_NEW_POD
    match landing.verdict:
        case "no":
            return Toned(_PENDING, Tone.FAILURE)
        case "unknown":
            return Toned(_UNKNOWN, Tone.WARNING)
        case "likely":
            return marked(f"{_LIKELY}{node}") if landing.conditions else f"{_LIKELY}{node}"
        case "lands_if":
            return Toned(marked(node), Tone.WARNING)
    return Toned(f"{node} {_SAME_NODE}", Tone.WARNING) if landing.returns_to_source else node


def target_legend(cells: Iterable[Cell], style: TableStyle) -> Iterator[str]:
    """What the marks of these cells mean, each once; nothing for plain nodes."""
    texts = {cell.text if isinstance(cell, Toned) else cell for cell in cells}
    meanings = [meaning for mark, meaning in _MEANINGS.items() if any(map(_has(mark), texts))]
    if meanings:
        yield from style.paragraph(f"TARGET: {'; '.join(meanings)}")
        yield ""


def _has(mark: str) -> Callable[[str], bool]:
    """Whether a text has the mark: a likely node begins with it, the same node ends with it."""
    if mark == _LIKELY:
        return lambda text: text.startswith(mark)
    return (lambda text: text.endswith(mark)) if mark == _SAME_NODE else (lambda text: text == mark)

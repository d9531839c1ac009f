"""The column TARGET: where replacement pods are scheduled, what they get there, and what the marks mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from descheduler.report.document import PodReference
from descheduler.report.plan.document import LandingWord, PlannedAllocation, PlannedLanding, Target
from descheduler.report.tables.columns import Cell, Row, Toned
from descheduler.report.tables.palette import Tone
from descheduler.report.tables.table_style import TableStyle

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
    text = target_text(landing.verdict, node)
    if landing.verdict == "likely":
        return marked(text) if landing.conditions else text
    if landing.verdict == "lands":
        return Toned(f"{text} {_SAME_NODE}", Tone.WARNING) if landing.returns_to_source else text
    return Toned(text, Tone.FAILURE if landing.verdict == "no" else Tone.WARNING)


def target_text(landing: LandingWord | None, node: str | None) -> str:
    """The node of a replacement: `~` marks a likely one, `(if)` one under a condition; or what becomes of it."""
    if landing == "likely":
        return f"{_LIKELY}{node}"
    if landing == "lands_if":
        return marked(node or "")
    return {None: NO_NEW_POD, "no": _PENDING, "unknown": _UNKNOWN}.get(landing, node or "")


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


def allocations_text(allocations: Iterable[PlannedAllocation]) -> str:
    """Such as `gpu 0, 3; rdma 1`, kinds in the order in which they come; empty without any."""
    names_by_kind: dict[str, list[str]] = {}
    for allocation in allocations:
        names_by_kind.setdefault(allocation.kind, []).append(allocation.name)
    return "; ".join(f"{kind} {', '.join(names)}" for kind, names in names_by_kind.items())


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

"""Verdicts on replacement pods in the words of tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from descheduler.report.explanation.group import LandingCount
from descheduler.report.explanation.pod import Verdict
from descheduler.report.plan.document import LandingCause
from descheduler.report.tables.conditions import marked
from descheduler.report.tables.table_style import TableStyle

__all__ = ["landing_lines", "target_text"]

_COUNTED: dict[Verdict | None, str] = {
    "lands": "can be scheduled",
    "lands_if": "under a condition",
    "likely": "likely",
    "unknown": "unknown",
    "no": "would stay pending",
    None: "not created",
}


def target_text(landing: Verdict | None, node: str | None) -> str:
    """The node of a replacement: `~` marks a likely one, `(if)` one under a condition; or what becomes of it."""
    match landing:
        case None:
            return ""
        case "no":
            return "pending"
        case "unknown":
            return "unknown"
        case "likely":
            return f"~{node}"
        case "lands_if":
            return marked(node or "")
        case _:
            return node or ""


def landing_lines(counts: Sequence[LandingCount], causes: Sequence[LandingCause], style: TableStyle) -> Iterator[str]:
    """The replacements by verdict, each cause said once; nothing without any."""
    if not counts:
        return
    parts = [f"{count.num_pods} {_COUNTED[count.verdict]}{_causes(count, causes)}" for count in counts]
    yield style.palette.heading(f"Replacement pods: {', '.join(parts)}")
    yield ""


def _causes(count: LandingCount, causes: Sequence[LandingCause]) -> str:
    said = [cause for cause in causes if cause.verdict == count.verdict]
    if len(said) == 1:
        return f" ({said[0].cause})"
    return f" ({'; '.join(f'{cause.num_pods}: {cause.cause}' for cause in said)})" if said else ""

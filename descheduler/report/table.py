"""Plans and outcomes as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from descheduler.model.amounts import percent_text
from descheduler.model.printable import printable
from descheduler.model.verdict import Reason
from descheduler.report.columns import aligned
from descheduler.report.figures import Amounts
from descheduler.report.outcome_document import Outcome
from descheduler.report.palette import PLAIN, Palette
from descheduler.report.plan_document import Move, Plan
from descheduler.report.summary import landing_summary, outcome_summary, plan_summary, requested_summary

__all__ = ["TableStyle", "outcome_table", "plan_table"]


_MOST_REFUSALS = 20
"""Rows in a table that is not wide; the counts by reason tell the rest."""

_LIMITS = frozenset(
    reason.value
    for reason in (Reason.TOTAL_LIMIT, Reason.NAMESPACE_LIMIT, Reason.NODE_LIMIT, Reason.STRATEGY_NODE_LIMIT)
)
"""Reasons that say nothing about the single pod."""


@dataclass(frozen=True, slots=True)
class TableStyle:
    """How tables look. `width` is that of the terminal in cells, None for output that is not to be wrapped.

    `is_wide` shows every refusal, the figures of single nodes and plugins, and more columns.
    """

    is_wide: bool = False
    width: int | None = None
    palette: Palette = PLAIN

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
        """The lines of one table, with an empty line after it; nothing when there are no rows."""
        if rows:
            yield from aligned(header, rows, width=self.width, palette=self.palette)
            yield ""


def plan_table(plan: Plan, style: TableStyle) -> Iterator[str]:
    """Lines that show what would be evicted, the sums, and what stays and why."""
    yield from _moves(plan, style)
    yield from _background(plan, style)
    yield style.palette.heading(plan_summary(plan))
    if sentence := landing_summary(plan.landings):
        yield sentence
    yield from _remainder(plan, style)


def outcome_table(outcome: Outcome, style: TableStyle) -> Iterator[str]:
    """Lines that show what was evicted and what was not, the sums, and what stays and why."""
    rows = [
        [r.pod.namespace, r.pod.name, r.node, *([r.profile] if style.is_wide else []), r.plugin, r.result, r.message]
        for r in outcome.results
    ]
    profile = ["PROFILE"] if style.is_wide else []
    yield from style.table(["NAMESPACE", "POD", "NODE", *profile, "PLUGIN", "RESULT", "MESSAGE"], rows)
    yield style.palette.heading(outcome_summary(outcome))
    yield from _remainder(outcome.plan, style)


def _moves(plan: Plan, style: TableStyle) -> Iterator[str]:
    if not style.is_wide:
        is_assessed = plan.landings.num_assessed > 0
        rows = [
            [m.pod.namespace, m.pod.name, m.from_node, *([_target(m)] if is_assessed else []), m.plugin, m.reason]
            for m in plan.evicted
        ]
        to = ["TO"] if is_assessed else []
        yield from style.table(["NAMESPACE", "POD", "NODE", *to, "PLUGIN", "REASON"], rows)
        return
    header = ["NAMESPACE", "POD", "UID", "FROM", "TO", "WAVE", "PROFILE", "PLUGIN", "REASON"]
    rows = [
        [m.pod.namespace, m.pod.name, m.pod.uid, m.from_node, _target(m), str(m.wave), m.profile, m.plugin, why]
        for m, why in ((move, _reason(move)) for move in plan.moves)
    ]
    yield from style.table(header, rows)


def _target(move: Move) -> str:
    """Where the replacement lands, or that it does not; empty when nobody looked, or when nothing comes back."""
    if move.landing is None:
        return ""
    if move.to_node is None:
        return {"no": "pending", "unknown": "unknown"}.get(move.landing.verdict, "")
    if move.landing.returns_to_source:
        return f"{move.to_node} (again)"
    return f"{move.to_node} (if)" if move.landing.verdict == "lands_if" else move.to_node


def _reason(move: Move) -> str:
    return f"{move.reason} (asked for again)" if move.is_repeated else move.reason


def _background(plan: Plan, style: TableStyle) -> Iterator[str]:
    rows = [[b.pod.namespace, b.pod.name, b.node, b.plugin, b.reason] for b in plan.background]
    yield from style.table(["NAMESPACE", "POD LEFT TO ANOTHER CONTROLLER", "NODE", "PLUGIN", "REASON"], rows)


def _remainder(plan: Plan, style: TableStyle) -> Iterator[str]:
    """Everything below the summary line."""
    yield requested_summary(plan.figures.total)
    yield ""
    yield from _refusals(plan, style)
    rows = [[str(count.num_refusals), count.code, count.summary] for count in plan.refusal_counts]
    yield from style.table(["KEPT", "CODE", "REASON"], rows)
    if style.is_wide:
        yield from _plugins(plan, style)
        yield from _nodes(plan, style)
    for failure in plan.failures:
        text = printable(f"{failure.profile}/{failure.plugin}: {failure.message}")
        yield style.palette.failure(f"failed: {text}")
    for warning in (*plan.warnings, *(f"left out: {sentence}" for sentence in plan.snapshot.skipped_objects)):
        yield style.palette.warning(f"warning: {printable(warning)}")


def _refusals(plan: Plan, style: TableStyle) -> Iterator[str]:
    """Refused requests, those aside that met a limit of the policy; wide tables show every candidate that stays."""
    if style.is_wide:
        shown = plan.refusals
    else:
        shown = tuple(refusal for refusal in plan.refusals if refusal.is_attempt and refusal.code not in _LIMITS)
    num_shown = len(shown) if style.is_wide else _MOST_REFUSALS
    rows = [[r.pod.namespace, r.pod.name, r.node, r.plugin, r.code, r.message] for r in shown[:num_shown]]
    yield from style.table(["NAMESPACE", "POD THAT STAYS", "NODE", "PLUGIN", "CODE", "REASON"], rows)
    if len(shown) > num_shown:
        yield f"and {len(shown) - num_shown} more; -o wide shows them all"
        yield ""


def _plugins(plan: Plan, style: TableStyle) -> Iterator[str]:
    rows = [
        [
            p.profile,
            p.plugin,
            str(p.evicted),
            str(p.background),
            ", ".join(f"{code} {n}" for code, n in p.refused.items()),
        ]
        for p in plan.plugins
    ]
    yield from style.table(["PROFILE", "PLUGIN", "EVICTED", "BACKGROUND", "REFUSED"], rows)


def _nodes(plan: Plan, style: TableStyle) -> Iterator[str]:
    rows = [
        [node.name, _change(node.before.pods, node.after.pods), *_shares(node.before, node.after, node.allocatable)]
        for node in plan.figures.nodes
    ]
    yield from style.table(["NODE THAT LOSES PODS", "PODS", "CPU REQUESTED", "MEMORY REQUESTED"], rows)


def _shares(before: Amounts, after: Amounts, allocatable: Amounts) -> tuple[str, str]:
    shares = (
        (before.cpu_milli, after.cpu_milli, allocatable.cpu_milli),
        (before.memory_bytes, after.memory_bytes, allocatable.memory_bytes),
    )
    cpu, memory = (f"{percent_text(old, whole)} -> {percent_text(new, whole)}" for old, new, whole in shares)
    return cpu, memory


def _change(before: int, after: int) -> str:
    return f"{before} -> {after}"

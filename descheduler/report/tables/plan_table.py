"""Plans as tables: what would be evicted, plugin by plugin, what is blocked and why, and last the summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from descheduler.model.text.amounts import percent_text
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import printable
from descheduler.model.verdict import Reason
from descheduler.plan.decisions import Failure
from descheduler.policy.plugin_faults import failure_words
from descheduler.report.document import PodReference
from descheduler.report.nothing import why_nothing
from descheduler.report.plan.document import Plan, PlanMove, PlannedRefusal, RefusalCount
from descheduler.report.plan.figures import Amounts, NodeFigures
from descheduler.report.plan.goal import PendingPod, pending_of, pending_title
from descheduler.report.tables.columns import Cell, Row, Toned
from descheduler.report.tables.gang_rows import by_gang, shown_nodes, shown_pods
from descheduler.report.tables.palette import Tone
from descheduler.report.tables.summary import plan_summary, plugin_title
from descheduler.report.tables.table_style import TableStyle
from descheduler.report.tables.targets import allocations_text, condition_table, target_cell, target_legend

_MOST_REFUSALS = 20
"""Rows in a table that is not wide; the counts by reason tell the rest."""
_MOST_PENDING = 20
"""Pending pods in a table that is not wide."""


def plan_table(plan: Plan, style: TableStyle) -> Iterator[str]:
    """Lines that show what would be evicted, what is not evicted and why, and the summary."""
    if not style.has_headers:
        rows = [[m.pod.namespace, m.pod.name, m.from_node, move_target(m), m.plugin, m.reason] for m in plan.moves]
        yield from style.table((), rows)
        return
    if not style.is_quiet:
        yield from _moves(plan, style)
        yield from target_legend(map(move_target, plan.moves if plan.landings.num_assessed else ()), style)
        yield from condition_table(((m.pod, m.landing.conditions) for m in plan.moves if m.landing), style)
        yield from _pending_pods(plan, style)
        yield from decision_tables(plan, style)
    yield from message_lines(plan, style)
    yield from plan_summary(plan, style)


def decision_tables(plan: Plan, style: TableStyle, *, listed: AbstractSet[PodReference] = frozenset()) -> Iterator[str]:
    """Whatever is not evicted by this run and not `listed` before, and the figures of plugins and nodes."""
    yield from _repeated(plan, style)
    yield from _background(plan, style)
    yield from _refusals(plan, style, listed)
    yield from _refusal_counts(plan, style)
    yield from _idle_plugins(plan, style)
    if style.is_wide:
        yield from _plugins(plan, style)
        yield from node_table(plan.figures.nodes, style)


def message_lines(plan: Plan, style: TableStyle) -> Iterator[str]:
    """Failures and warnings."""
    lines = [
        *(style.palette.failure(f"Failed: {printable(_failure(failure))}") for failure in plan.failures),
        *(style.palette.warning(f"Warning: {printable(warning)}") for warning in _warnings(plan)),
    ]
    if style.is_wide and plan.snapshot.missing_kinds:
        lines.append(f"Kinds that are not in the dump: {', '.join(plan.snapshot.missing_kinds)}")
    if lines:
        yield from (*lines, "")


def _failure(failure: Failure) -> str:
    return f"{failure.profile}/{failure.plugin}: {failure_words(failure.plugin, failure.message)}"


def _warnings(plan: Plan) -> Iterator[str]:
    yield from plan.warnings
    yield from (f"skipped: {sentence}" for sentence in plan.snapshot.skipped_objects)


def _moves(plan: Plan, style: TableStyle) -> Iterator[str]:
    """One table a plugin, all with the same columns."""
    has_targets = plan.landings.num_assessed > 0
    has_allocations = style.is_wide and any(move.landing and move.landing.allocations for move in plan.moves)
    groups: dict[tuple[str, str], list[PlanMove]] = {}
    for move in plan.moves:
        groups.setdefault((move.profile, move.plugin), []).append(move)
    header = ["NAMESPACE", "POD", *(["UID"] if style.is_wide else []), "NODE", *(["TARGET"] if has_targets else [])]
    header += [*(["ALLOCATED"] if has_allocations else []), *(["WAVE"] if style.is_wide else []), "REASON"]
    rows = {
        group: [_row(move, style, has_targets, has_allocations) for move in moves] for group, moves in groups.items()
    }
    all_rows = [row for group in rows.values() for row in group]
    for group, its_rows in rows.items():
        title = f"{plugin_title(plan, *group)}: {counted(len(its_rows), 'pod')} to evict"
        yield from style.table(header, style.without_repeats(its_rows), title=title, like=all_rows)


def _pending_pods(plan: Plan, style: TableStyle) -> Iterator[str]:
    """The pods that evictions are to make room for, and their nodes then."""
    pods = pending_of(plan.goal) if plan.moves else ()
    shown = pods if style.is_wide else pods[:_MOST_PENDING]
    holds_room = any(each.holds_target for each in pods)
    rows = [[each.pod.namespace, each.pod.name, *_expected(each, holds_room=holds_room)] for each in shown]
    title = pending_title(pods)
    title += f"; {len(shown):,} shown, -o wide shows all" if len(shown) < len(pods) else ""
    yield from style.table(["NAMESPACE", "POD", "TARGET", *(["ROOM HELD"] if holds_room else [])], rows, title=title)


def _expected(each: PendingPod, *, holds_room: bool) -> list[Cell]:
    """The node of a pending pod, and where some have it, whether a Reservation holds room."""
    node: Cell = each.to_node or Toned("pending", Tone.FAILURE)
    return [node, *(["yes" if each.holds_target else "no"] if holds_room else [])]


def _row(move: PlanMove, style: TableStyle, has_targets: bool, has_allocations: bool) -> Row:
    return [
        move.pod.namespace,
        move.pod.name,
        *([move.pod.uid] if style.is_wide else []),
        move.from_node,
        *([move_target(move)] if has_targets else []),
        *([allocations_text(move.landing.allocations if move.landing else ())] if has_allocations else []),
        *([str(move.wave)] if style.is_wide else []),
        move.reason,
    ]


def move_target(move: PlanMove) -> Cell:
    """The expected node of the replacement, or what is known instead."""
    landing = move.landing
    if landing is None:
        return ""
    return target_cell(landing, move.to_node or "")


def _repeated(plan: Plan, style: TableStyle) -> Iterator[str]:
    """Requests for pods that an earlier move evicts, in wide tables alone."""
    if style.is_wide:
        rows = [[r.pod.namespace, r.pod.name, r.node, r.plugin, r.reason] for r in plan.repeated_requests]
        title = "Selected twice, evicted once"
        yield from style.table(["NAMESPACE", "POD", "NODE", "PLUGIN", "REASON"], rows, title=title)


def _background(plan: Plan, style: TableStyle) -> Iterator[str]:
    rows = [[b.pod.namespace, b.pod.name, b.node, b.plugin, b.reason] for b in plan.background]
    title = f"Evicted by another controller: {counted(len(rows), 'pod')}"
    yield from style.table(["NAMESPACE", "POD", "NODE", "PLUGIN", "REASON"], rows, title=title)


def _refusals(plan: Plan, style: TableStyle, listed: AbstractSet[PodReference]) -> Iterator[str]:
    """Pods that something blocks, those aside that only a limit of the policy does, and pods that a later run evicts;
    wide tables show all of them, and so do those of a plan that has nothing else to show.

    A gang is one row, but for wide tables.
    """
    unlisted = [r for r in plan.refusals if r.pod not in listed]
    shown = [r for r in unlisted if style.is_wide or _is_of_interest(r)]
    if not (shown or plan.moves):
        shown = unlisted
    groups = [[each] for each in shown] if style.is_wide else by_gang(shown)[:_MOST_REFUSALS]
    rows = [_refusal_row(group, style) for group in groups]
    number, num_shown = counted(len(plan.refusals), "pod"), sum(map(len, groups))
    title = f"Not evicted: {number}"
    if num_shown < len(plan.refusals) - len(listed):
        title = f"Not evicted: {num_shown:,} of {number}; -o wide shows all"
    header = ["NAMESPACE", "POD", "NODE", "PLUGIN", *(["SELECTED FOR"] if style.is_wide else []), "BLOCKED BY"]
    yield from style.table(header, style.without_repeats(rows), title=title)


def _is_of_interest(refusal: PlannedRefusal) -> bool:
    is_blocked = refusal.is_attempt and not refusal.limit
    return is_blocked or refusal.code == Reason.TOO_FEW_OBSERVATIONS.value


def _refusal_row(group: Sequence[PlannedRefusal], style: TableStyle) -> Row:
    first = group[0]
    why = [first.reason] if style.is_wide else []
    nodes = shown_nodes(each.node for each in group)
    return [first.pod.namespace, shown_pods(group), nodes, first.plugin, *why, first.message]


def _refusal_counts(plan: Plan, style: TableStyle) -> Iterator[str]:
    by_code: dict[str, list[PlannedRefusal]] = {}
    for refusal in plan.refusals:
        by_code.setdefault(refusal.code, []).append(refusal)
    rows = [
        [f"{count.num_refusals:,}", count.code, _meaning(count, by_code[count.code])] for count in plan.refusal_counts
    ]
    yield from style.table(["PODS", "CODE", "MEANING"], rows, title="Not evicted, by reason")


def _meaning(count: RefusalCount, refusals: Sequence[PlannedRefusal]) -> str:
    """What blocks `refusals`, all of one code, and which pods: what is said of all of them, unless rows above say it
    already, and the first of them."""
    messages = {refusal.message for refusal in refusals}
    is_told = any(map(_is_of_interest, refusals))
    meaning = count.summary if is_told or len(messages) > 1 else messages.pop() or count.summary
    return f"{meaning}: {refusals[0].pod.namespace}/{shown_pods(refusals)}"


def _idle_plugins(plan: Plan, style: TableStyle) -> Iterator[str]:
    """Plugins that evict nothing, and why; nothing where the summary says it of all of them."""
    rows = [
        [plugin_title(plan, figures.profile, figures.plugin), figures.facts.why_nothing]
        for figures in plan.plugins
        if figures.facts is not None and figures.facts.why_nothing
    ]
    summary = why_nothing(plan)
    if not all(reason in summary for _, reason in rows):
        yield from style.table(["PLUGIN", "REASON"], rows, title="Plugins that evict nothing")


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
    header = ["PROFILE", "PLUGIN", "EVICTED", "BACKGROUND", "NOT EVICTED"]
    yield from style.table(header, rows, title="Plugins, in running order")


def node_table(nodes: Sequence[NodeFigures], style: TableStyle) -> Iterator[str]:
    """A row for each of `nodes`, before and after."""
    rows = [
        [node.name, f"{node.before.pods} -> {node.after.pods}", *_shares(node.before, node.after, node.allocatable)]
        for node in nodes
    ]
    header = ["NODE", "PODS", "CPU REQUESTS", "MEMORY REQUESTS"]
    yield from style.table(header, rows, title="Nodes whose pods change, with the replacements")


def _shares(before: Amounts, after: Amounts, allocatable: Amounts) -> tuple[str, str]:
    shares = (
        (before.cpu_milli, after.cpu_milli, allocatable.cpu_milli),
        (before.memory_bytes, after.memory_bytes, allocatable.memory_bytes),
    )
    cpu, memory = (f"{percent_text(old, whole)} -> {percent_text(new, whole)}" for old, new, whole in shares)
    return cpu, memory

"""Outcomes as tables: what was evicted, plugin by plugin, what was not and why, and last the summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from descheduler.model.text.counted import counted
from descheduler.report.document import PodReference
from descheduler.report.outcome.document import EvictionResult, OutcomeDocument
from descheduler.report.tables.columns import Cell, Row, Toned
from descheduler.report.tables.palette import Tone
from descheduler.report.tables.plan_table import decision_tables, message_lines
from descheduler.report.tables.summary import outcome_summary, plugin_title
from descheduler.report.tables.table_style import TableStyle
from descheduler.report.tables.targets import condition_table, target_cell, target_legend

_TONES = {"refused": Tone.WARNING, "failed": Tone.FAILURE, "not-attempted": Tone.WARNING}


def outcome_table(outcome: OutcomeDocument, style: TableStyle) -> Iterator[str]:
    """Lines that show what was evicted, what was not and why, and the summary."""
    if not style.has_headers:
        rows: list[Row] = [_plain_row(result) for result in outcome.results]
        yield from style.table((), rows)
        return
    if not style.is_quiet:
        yield from _evicted(outcome, style)
        yield from target_legend((_target(each) for each in outcome.results if each.result == "evicted"), style)
        yield from condition_table(_conditions(outcome), style)
        yield from _others(outcome, style)
        listed = frozenset(result.pod for result in outcome.results if result.result != "evicted")
        yield from decision_tables(outcome.plan, style, listed=listed)
    yield from message_lines(outcome.plan, style)
    yield from outcome_summary(outcome, style)


def _evicted(outcome: OutcomeDocument, style: TableStyle) -> Iterator[str]:
    """One table a plugin, all with the same columns."""
    groups: dict[tuple[str, str], list[EvictionResult]] = {}
    for result in outcome.results:
        if result.result == "evicted":
            groups.setdefault((result.profile, result.plugin), []).append(result)
    is_seen = any(result.landed_on for result in outcome.results)
    seen, code = ["NEW NODE"] if is_seen else [], ["CODE"] if style.is_wide else []
    header = ["NAMESPACE", "POD", "NODE", "TARGET", *seen, *code, "REASON"]
    rows = {group: [_row(result, style, is_seen) for result in results] for group, results in groups.items()}
    all_rows = [row for group in rows.values() for row in group]
    for group, its_rows in rows.items():
        title = f"{plugin_title(outcome.plan, *group)}: {counted(len(its_rows), 'pod')} evicted"
        yield from style.table(header, style.without_repeats(its_rows), title=title, like=all_rows)


def _conditions(outcome: OutcomeDocument) -> Iterator[tuple[PodReference, Sequence[str]]]:
    for result in outcome.results:
        if result.result == "evicted" and result.target is not None:
            yield result.pod, result.target.conditions


def _row(result: EvictionResult, style: TableStyle, is_seen: bool) -> Row:
    """`is_seen` tells that some replacement was looked for, so that there is a column for where it is."""
    pod = result.pod
    seen = [result.landed_on] if is_seen else []
    code = [result.code] if style.is_wide else []
    return [pod.namespace, pod.name, result.node, _target(result), *seen, *code, _reason(result)]


def _reason(result: EvictionResult) -> str:
    """Why the pod was selected, and what is unclear about its eviction."""
    return f"{result.why}; {result.message}" if result.message else result.why


def _target(result: EvictionResult) -> Cell:
    target = result.target
    return "" if target is None else target_cell(target, target.node)


def _others(outcome: OutcomeDocument, style: TableStyle) -> Iterator[str]:
    """Pods of the plan, and of users' jobs, that were not evicted after all."""
    rows: list[Row] = [
        [r.pod.namespace, r.pod.name, r.node, r.asked_by, Toned(r.result, _TONES.get(r.result, Tone.PLAIN)), r.message]
        for r in outcome.results
        if r.result != "evicted"
    ]
    planned = "Planned, or requested by users," if any(result.job for result in outcome.results) else "Planned"
    title = f"{planned} but not evicted: {counted(len(rows), 'pod')}"
    yield from style.table(["NAMESPACE", "POD", "NODE", "PLUGIN", "RESULT", "CAUSE"], rows, title=title)


def _plain_row(result: EvictionResult) -> Row:
    pod = result.pod
    return [pod.namespace, pod.name, result.node, _target(result), result.asked_by, result.result, result.reason]

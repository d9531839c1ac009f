"""The explanation of a plugin as tables."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from descheduler.report.explanation.plugin import PluginExplanation, PluginUse
from descheduler.report.explanation.tables.plugin_facts import plugin_facts_tables
from descheduler.report.tables.table_style import TableStyle

__all__ = ["plugin_table"]

_WIDEST = 120


def plugin_table(explanation: PluginExplanation, style: TableStyle) -> Iterator[str]:
    """What it does, its words and arguments, who runs it, and what it did."""
    of = "scheduler plugin" if explanation.kind == "scheduling" else "plugin"
    yield style.palette.heading(f"{explanation.name} ({', '.join(explanation.points)} {of})")
    yield ""
    for paragraph in (explanation.summary, *explanation.about):
        yield from textwrap.wrap(paragraph, min(style.width or _WIDEST, _WIDEST), break_on_hyphens=False)
        yield ""
    yield from style.table(["REASON IN EVENTS"], [[reason] for reason in explanation.reasons])
    yield from _arguments(explanation, style)
    if explanation.uses:
        yield from _uses(explanation.uses, style)
    if explanation.not_enabled:
        yield style.palette.heading(explanation.not_enabled)
        yield ""
    yield from _decisions(explanation, style)
    yield from plugin_facts_tables(explanation.decisions, style)


def _arguments(explanation: PluginExplanation, style: TableStyle) -> Iterator[str]:
    """All arguments in wide tables, else without the parts of parts that most plugins share."""
    shown = [a for a in explanation.arguments if style.is_wide or not a.name.startswith(_SHARED)]
    rows = [[a.name, a.type_text, a.default, a.meaning] for a in shown]
    yield from style.table(["ARGUMENT", "TYPE", "DEFAULT", "MEANING"], rows)


_SHARED = tuple(f"{name}." for name in ("namespaces", "labelSelector", "namespaceLabelSelector", "priorityThreshold"))


def _uses(uses: tuple[PluginUse, ...], style: TableStyle) -> Iterator[str]:
    rows = [
        [
            use.profile,
            ", ".join(use.points),
            "" if use.weight is None else str(use.weight),
            ", ".join(f"{name}: {value}" for name, value in use.args.items()) or "defaults",
        ]
        for use in uses
    ]
    if all(use.weight is None for use in uses):
        yield from style.table(["PROFILE", "RUNS AT", "ARGUMENTS"], [[*row[:2], row[3]] for row in rows])
    else:
        yield from style.table(["PROFILE", "RUNS AT", "WEIGHT", "ARGUMENTS"], rows)


def _decisions(explanation: PluginExplanation, style: TableStyle) -> Iterator[str]:
    is_strategy = not {"deschedule", "balance"}.isdisjoint(explanation.points)
    is_shared = any(each.evicted_by_others for each in explanation.decisions)
    rows = []
    for each in explanation.decisions:
        refused = ", ".join(f"{code} {number}" for code, number in each.refused.items()) or "none"
        evicted = [str(each.evicted)] if is_strategy else []
        rows.append([each.profile, *evicted, *([str(each.evicted_by_others)] if is_shared else []), refused])
    header = ["PODS EVICTED"] if is_strategy else []
    header += [*(["EVICTED BY ANOTHER PLUGIN"] if is_shared else [])]
    yield from style.table(["PROFILE", *header, "SELECTED, NOT EVICTED" if is_strategy else "PODS REFUSED"], rows)
    for each in explanation.decisions:
        for goal in each.goals:
            yield from style.paragraph(f"Goal of profile {each.profile}: {goal}", indent="  ")
    if any(each.goals for each in explanation.decisions):
        yield ""

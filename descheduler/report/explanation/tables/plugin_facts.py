"""What a plugin saw in a run, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from descheduler.plan.facts import NearestValue
from descheduler.report.explanation.plugin import PluginDecisions
from descheduler.report.facts import PluginFacts
from descheduler.report.tables.table_style import TableStyle

__all__ = ["plugin_facts_tables"]


def plugin_facts_tables(decisions: Sequence[PluginDecisions], style: TableStyle) -> Iterator[str]:
    """Which pods were left out by which rule, the nodes by class, what came nearest to limits, and why nothing goes."""
    known = [(each.profile, each.facts) for each in decisions if each.facts is not None]
    yield from style.table(
        ["PROFILE", "PODS EXAMINED", "SELECTED", "LEFT OUT BY"],
        [[name, f"{f.pods_examined:,}", f"{f.pods_selected:,}", _left_out(f)] for name, f in known],
    )
    yield from style.table(
        ["PROFILE", "NODES UNDER", "BETWEEN", "OVER THRESHOLDS"],
        [[name, f"{n.under:,}", f"{n.between:,}", f"{n.over:,}"] for name, f in known if (n := f.nodes) is not None],
    )
    yield from style.table(
        ["PROFILE", "LIMIT", "NEAREST VALUE", "OF"],
        [[name, f"{n.key}: {_number(n.limit)}", _value(n), n.subject] for name, f in known for n in f.nearest],
    )
    yield from style.table(
        ["PROFILE", "WHY NOTHING IS EVICTED"], [[name, f.why_nothing] for name, f in known if f.why_nothing]
    )


def _left_out(facts: PluginFacts) -> str:
    return ", ".join(f"{key} {number:,}" for key, number in facts.left_out.items())


def _value(nearest: NearestValue) -> str:
    """Such as `85.3%` or `12 restarts`."""
    unit = "%" if nearest.unit == "percent" else f" {nearest.unit}"
    return f"{_number(nearest.value)}{unit}"


def _number(value: float) -> str:
    """With at most one decimal, as reasons have it, and none of scientific notation."""
    return f"{value:,.1f}".removesuffix(".0")

"""The explanation of a workload's or a namespace's pods as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from descheduler.report.explanation.group import ExplainedPod, GroupExplanation
from descheduler.report.explanation.tables.landing_words import landing_lines, target_text
from descheduler.report.tables.gang_rows import by_gang, shown_nodes, shown_pods
from descheduler.report.tables.table_style import TableStyle
from descheduler.report.tables.targets import NO_NEW_POD

__all__ = ["group_table"]

_MOST_UNSELECTED = 20
"""Pods up to which those that no plugin selects are shown in a table that is not wide."""
_OUTCOMES = {"evicted": "evicted", "kept": "not evicted", "unwanted": "not selected", "unjudged": "skipped"}


def group_table(explanation: GroupExplanation, style: TableStyle) -> Iterator[str]:
    """A row a pod, one for several where their gang blocks them, then the replacements by verdict, and last the sum."""
    shown = explanation.pods
    if not style.is_wide and len(shown) > _MOST_UNSELECTED:
        shown = tuple(pod for pod in shown if pod.outcome not in ("unwanted", "unjudged"))
    rows = [_row(group) for group in ([[pod] for pod in shown] if style.is_wide else by_gang(shown))]
    columns = ["NAMESPACE", "POD", "NODE", "DECISION", "PLUGIN", "TARGET", "REASON"]
    if explanation.pods[0].outcome is None:
        columns = ["NAMESPACE", "POD", "NODE", "TARGET", "REASON"]
    yield from style.table(columns, rows)
    if len(shown) < len(explanation.pods):
        yield f"{len(explanation.pods) - len(shown)} pods that no plugin selects are not shown; -o wide shows them all"
        yield ""
    yield from landing_lines(explanation.landing_counts, explanation.causes, style)
    yield style.palette.heading(_summary(explanation))


def _row(group: Sequence[ExplainedPod]) -> list[str]:
    pod = group[0]
    where = [pod.pod.namespace, shown_pods(group), shown_nodes(each.node for each in group)]
    target = target_text(pod.landing, pod.to_node) or (NO_NEW_POD if pod.landing_message else "")
    why = pod.landing_message if pod.landing in (None, "lands_if", "no") else ""
    if pod.outcome is None:
        return [*where, target, why]
    blocked = f"blocked by {pod.code}: {pod.message}" if pod.code else ""
    selected = pod.reason if len({each.reason for each in group}) == 1 else ""
    reason = "; ".join(filter(None, (selected, blocked, why if pod.outcome == "evicted" else "")))
    return [*where, _OUTCOMES[pod.outcome], pod.plugin, target, reason]


def _summary(explanation: GroupExplanation) -> str:
    """Such as `Deployment shop/web: 3 pods, 1 would be evicted, 2 not selected by any plugin`."""
    key = f"{explanation.namespace}/{explanation.name}" if explanation.namespace else explanation.name
    num_pods = len(explanation.pods)
    lead = f"{explanation.kind} {key}: {num_pods} {'pod' if num_pods == 1 else 'pods'}"
    if explanation.unjudged:
        return f"{lead}; the run was skipped: {explanation.unjudged}"
    counts = Counter(pod.outcome for pod in explanation.pods)
    parts = [
        f"{counts['evicted']} would be evicted",
        f"{counts['kept']} selected but not evicted",
        f"{counts['unwanted']} not selected by any plugin",
    ]
    return ", ".join([lead, *(part for part in parts if not part.startswith("0 "))])

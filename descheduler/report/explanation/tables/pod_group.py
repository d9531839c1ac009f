"""A gang as tables."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.text.counted import counted
from descheduler.model.text.printable import printable
from descheduler.report.explanation.pod import GangFacts
from descheduler.report.explanation.pod_group import GangMember, PodGroupExplanation
from descheduler.report.explanation.tables.placement import placement_table
from descheduler.report.tables.table_style import TableStyle

__all__ = ["pod_group_table"]

_MOST_MEMBERS = 20


def pod_group_table(explanation: PodGroupExplanation, style: TableStyle) -> Iterator[str]:
    """What the gang needs and has, its pods, the gangs of its group, and why its pods are pending."""
    facts = explanation.facts
    yield from style.heading(printable(f"Gang {facts.name}{_source(explanation)}"))
    header = ["MINMEMBER", "RUNNING", "PENDING", "MISSING"]
    settings = [facts.mode, facts.match_policy, f"{facts.waiting_time_seconds:g}s" if facts.mode else ""]
    rows = [[*_figures(facts), *settings]]
    yield from style.table([*header, "MODE", "MATCH POLICY", "WAITING TIME"], rows)
    rows = [[each.name or "'' (an empty name)", *_figures(each)] for each in explanation.others]
    yield from style.table(["GANG OF ITS GROUP", *header], rows)
    yield from _members(explanation, style)
    for note in (*explanation.notes, _evictable(explanation)):
        yield from style.paragraph(printable(note))
    yield ""
    if explanation.placement is not None:
        first = next(each for each in explanation.members if each.node is None and not each.is_terminating)
        yield from placement_table(explanation.placement, style, f"the pending pod {first.pod.name}")


def _source(explanation: PodGroupExplanation) -> str:
    match explanation.source:
        case "PodGroup":
            return f" (PodGroup of {explanation.api_group})"
        case "pods":
            return " (annotations and labels of its pods)"
        case "none":
            return ""


def _figures(facts: GangFacts) -> list[str]:
    minimum = "" if facts.min_member is None else str(facts.min_member)
    return [minimum, str(facts.num_running), str(facts.num_pending), str(facts.num_missing)]


def _members(explanation: PodGroupExplanation, style: TableStyle) -> Iterator[str]:
    shown = explanation.members if style.is_wide else explanation.members[:_MOST_MEMBERS]
    rows = [[each.pod.namespace, each.pod.name, each.node or "", _phase(each)] for each in shown]
    yield from style.table(["NAMESPACE", "POD", "NODE", "PHASE"], rows)
    if len(shown) < len(explanation.members):
        yield f"{len(explanation.members) - len(shown):,} more pods; -o wide shows them all"
        yield ""


def _phase(member: GangMember) -> str:
    return f"{member.phase}, terminating" if member.is_terminating else member.phase


def _evictable(explanation: PodGroupExplanation) -> str:
    if explanation.num_spare is None or not explanation.facts.num_running:
        return ""
    if explanation.num_spare:
        return f"{counted(explanation.num_spare, 'pod')} can be evicted before it has fewer than it needs"
    facts = explanation.facts
    running = counted(facts.num_running, "pod runs", "pods run")
    return f"{running} and minMember is {facts.min_member}: no single pod can be evicted (GangMinimum)"

"""The explanation of a pod as tables."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.text.amounts import amounts_text
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import printable
from descheduler.report.explanation.pod import (
    ExplainedLanding,
    GangFacts,
    PluginAnswer,
    PodDecision,
    PodExplanation,
    PodFacts,
)
from descheduler.report.explanation.tables.placement import placement_table
from descheduler.report.tables.allocations import allocations_text
from descheduler.report.tables.table_style import TableStyle

__all__ = ["pod_table"]

_STEPS = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def pod_table(explanation: PodExplanation, style: TableStyle) -> Iterator[str]:
    """The pod, what becomes of it, and where what comes back for it would land."""
    facts = explanation.facts
    yield from _facts(facts, style)
    if explanation.decision is not None:
        yield from _decision(explanation.decision, style)
    if explanation.landing is not None:
        yield from _landing(explanation.landing, style)
    if explanation.placement is not None:
        lead = "the replacement pod" if facts.node is not None else f"the pending pod {facts.pod.name}"
        yield from placement_table(explanation.placement, style, lead)
    elif explanation.landing is None:
        yield style.palette.heading("placement: the pod has finished or is being deleted, so no placement is predicted")
        yield ""


def _facts(facts: PodFacts, style: TableStyle) -> Iterator[str]:
    phase = f"{facts.phase}, terminating" if facts.is_terminating else facts.phase
    uid = (["UID"], [facts.pod.uid]) if style.is_wide else ([], [])
    # Two tables: one that has all of it is wider than most terminals.
    header = ["NAMESPACE", "POD", *uid[0], "NODE", "OWNER", "PHASE", "AGE"]
    row = [
        facts.pod.namespace,
        facts.pod.name,
        *uid[1],
        facts.node or "",
        facts.owner,
        phase,
        "" if facts.age_seconds is None else _age(facts.age_seconds),
    ]
    yield from style.table(header, [row])
    row = [
        "" if facts.priority is None else str(facts.priority),
        facts.qos_class,
        facts.scheduler,
        amounts_text(facts.requests.items()),
    ]
    yield from style.table(["PRIORITY", "QOS", "SCHEDULER", "REQUESTS"], [row])
    if facts.gang is not None:
        yield from style.labelled({"Gang": printable(_gang(facts.gang))})
        yield ""


_NO_NAME = "'' (an empty name in the group)"
_MOST_GANGS = 10
"""Gangs of a group that are named."""


def _gang(gang: GangFacts) -> str:
    """Its minimum, and how many of its pods there are."""
    pods = f"{gang.num_running} running, {gang.num_pending} pending"
    if gang.min_member is None:
        return f"{gang.name}: no PodGroup and no valid minMember; {pods}"
    others = [each or _NO_NAME for each in dict.fromkeys(gang.group) if each != gang.name]
    more = [f"{len(others) - _MOST_GANGS:,} more"] if len(others) > _MOST_GANGS else []
    group = f", scheduled together with {', '.join([*others[:_MOST_GANGS], *more])}" if others else ""
    mode = f", mode: {gang.mode}, match-policy: {gang.match_policy}" if gang.mode else ""
    settings = f"minMember: {gang.min_member}{mode}"
    return f"{gang.name} ({settings}): {pods}, {gang.num_missing} missing{group}"


def _decision(decision: PodDecision, style: TableStyle) -> Iterator[str]:
    yield from style.heading(f"Decision: {_OUTCOMES.get(decision.outcome) or decision.summary}")
    yield from style.labelled({**_answered(decision.answers), "Wave": _wave(decision)})
    if decision.num_moves_before:
        yield f"{counted(decision.num_moves_before, 'other pod')} evicted before it in this run"
    if style.is_wide or decision.outcome == "unwanted":
        for miss in _misses(decision):
            yield from style.paragraph(miss, indent="  ")
    yield ""
    answers = decision.answers
    if style.is_wide or len(answers) > 1:
        rows = [[a.profile, a.plugin, a.result, a.code, a.subject, a.message or a.reason] for a in answers]
        yield from style.table(["PROFILE", "SELECTED BY", "RESULT", "CODE", "SUBJECT", "REASON"], rows)
    shown = [f for f in decision.filters if style.is_wide or (f.code and decision.outcome == "unwanted")]
    rows = [[f.profile, "no" if f.code else "yes", f.code, f.subject, f.message] for f in shown]
    yield from style.table(["PROFILE", "EVICTABLE", "CODE", "SUBJECT", "REASON"], rows)


def _wave(decision: PodDecision) -> str:
    """Such as `2 of 3 (starts when wave 1 has ended)`; empty where all pods are evicted together."""
    if decision.wave is None or decision.num_waves < 2:
        return ""
    after = f" (starts when wave {decision.wave - 1} has ended)" if decision.wave > 1 else ""
    return f"{decision.wave} of {decision.num_waves}{after}"


_OUTCOMES = {"evicted": "evicted", "kept": "not evicted", "unwanted": "not selected by any plugin"}


def _answered(answers: tuple[PluginAnswer, ...]) -> dict[str, str]:
    """Who selected the pod, and what blocks its eviction."""
    decisive = next((answer for answer in answers if answer.result == "evicted"), answers[0] if answers else None)
    if decisive is None:
        return {}
    reason = f": {decisive.reason}" if decisive.reason else ""
    others = dict.fromkeys(answer.plugin for answer in answers if answer.plugin != decisive.plugin)
    return {
        "Selected by": printable(f"{decisive.plugin} (profile {decisive.profile}){reason}"),
        "Blocked by": printable(f"{decisive.code}: {decisive.message}") if decisive.code else "",
        "Also selected by": ", ".join(others),
    }


def _misses(decision: PodDecision) -> Iterator[str]:
    """A line a plugin, with its profile where there are several."""
    several = len({f.profile for f in decision.filters} | {miss.profile for miss in decision.not_selected}) > 1
    for miss in decision.not_selected:
        yield f"{miss.plugin}{f' (profile {miss.profile})' if several else ''}: {miss.message}"


def _landing(landing: ExplainedLanding, style: TableStyle) -> Iterator[str]:
    yield from style.heading(f"If evicted: {landing.summary}")
    allocated = allocations_text(landing.allocations)
    if allocated:
        yield from style.paragraph(printable(f"allocated on {landing.node}: {allocated}"))
    for note in landing.notes:
        yield from style.paragraph(note)
    yield ""
    if style.is_wide and landing.verdict is not None:
        row = [
            landing.verdict,
            landing.cold or "",
            landing.settled or "",
            landing.source,
            landing.returns,
            "" if landing.margin is None else str(landing.margin),
            ", ".join(landing.nodes),
        ]
        yield from style.table(
            ["VERDICT", "POD TERMINATING", "POD DELETED", "SPEC FROM", "CREATED", "MARGIN", "NODES"], [row]
        )


def _age(seconds: float) -> str:
    """The two largest units, such as `3d4h`."""
    rest = max(0, int(seconds))
    parts = []
    for step, unit in _STEPS:
        number, rest = divmod(rest, step)
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts[:2]) or "0s"

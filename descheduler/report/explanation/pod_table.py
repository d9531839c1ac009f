"""The explanation of a pod as tables."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.amounts import amounts_text
from descheduler.model.printable import printable
from descheduler.report.explanation.placement_table import placement_table
from descheduler.report.explanation.pod import ExplainedLanding, PodDecision, PodExplanation, PodFacts
from descheduler.report.table_style import TableStyle

__all__ = ["pod_table"]

_STEPS = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def pod_table(explanation: PodExplanation, style: TableStyle) -> Iterator[str]:
    """The pod, what becomes of it, and where what comes back for it would land."""
    facts = explanation.facts
    yield from _facts(facts, style)
    if explanation.decision is not None:
        yield from _decision(facts, explanation.decision, style)
    if explanation.landing is not None:
        yield from _landing(explanation.landing, style)
    if explanation.placement is not None:
        lead = "the pod created instead" if facts.node is not None else f"the pending pod {facts.pod.name}"
        yield from placement_table(explanation.placement, style, lead)
    elif explanation.landing is None:
        yield style.palette.heading("placement: the pod has finished or is being deleted, so nothing is to be placed")
        yield ""


def _facts(facts: PodFacts, style: TableStyle) -> Iterator[str]:
    phase = f"{facts.phase}, terminating" if facts.is_terminating else facts.phase
    uid = (["UID"], [facts.pod.uid]) if style.is_wide else ([], [])
    header = ["NAMESPACE", "POD", *uid[0], "NODE", "OWNER", "PHASE", "AGE", "PRIORITY", "QOS", "SCHEDULER", "REQUESTS"]
    row = [
        facts.pod.namespace,
        facts.pod.name,
        *uid[1],
        facts.node or "",
        facts.owner,
        phase,
        "" if facts.age_seconds is None else _age(facts.age_seconds),
        "" if facts.priority is None else str(facts.priority),
        facts.qos_class,
        facts.scheduler,
        amounts_text(facts.requests.items()),
    ]
    yield from style.table(header, [row])


def _decision(facts: PodFacts, decision: PodDecision, style: TableStyle) -> Iterator[str]:
    yield style.palette.heading(f"decision: {printable(f'{facts.pod.name} {decision.summary}')}")
    if decision.num_moves_before:
        evictions = "eviction" if decision.num_moves_before == 1 else "evictions"
        yield f"the run had booked {decision.num_moves_before} {evictions} of other pods before"
    yield ""
    answers = decision.answers
    if style.is_wide or len(answers) > 1:
        rows = [[a.profile, a.plugin, a.result, a.code, a.subject, a.message or a.reason] for a in answers]
        yield from style.table(["PROFILE", "PLUGIN THAT WANTS IT GONE", "RESULT", "CODE", "SUBJECT", "REASON"], rows)
    shown = [f for f in decision.filters if style.is_wide or (f.code and decision.outcome == "unwanted")]
    rows = [[f.profile, "stays" if f.code else "may go", f.code, f.subject, f.message] for f in shown]
    yield from style.table(["PROFILE", "FILTERS SAY", "CODE", "SUBJECT", "REASON"], rows)


def _landing(landing: ExplainedLanding, style: TableStyle) -> Iterator[str]:
    yield style.palette.heading(f"landing: {printable(landing.summary)}")
    for note in landing.notes:
        yield printable(note)
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
        yield from style.table(["VERDICT", "COLD", "SETTLED", "MADE FROM", "COMES BACK", "MARGIN", "NODES"], [row])


def _age(seconds: float) -> str:
    """The two largest units, such as `3d4h`."""
    rest = max(0, int(seconds))
    parts = []
    for step, unit in _STEPS:
        number, rest = divmod(rest, step)
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts[:2]) or "0s"

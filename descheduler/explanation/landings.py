"""Landings in the words of an explanation: what is published of them, how it is made, and how tables say it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from descheduler.documents.fields import Fields
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.report.plan.document import LandingCause, LandingWord, PlannedAllocation, ReturnsWord
from descheduler.report.plan.landings import planned_allocations
from descheduler.report.tables.table_style import TableStyle


class LandingCount(Fields, frozen=True):
    """How many replacement pods get one verdict; it is null for pods after which no replacement is created."""

    verdict: LandingWord | None
    num_pods: int = msgspec.field(name="pods")


class ExplainedLanding(Fields, frozen=True):
    """Where the replacement pod would be scheduled; fields as in `PlannedLanding`.

    `summary` is one sentence. `source` says what the replacement was made from: the owner's template, a copy of the
    live pod, or `none` when no replacement is created. `returns` is as in `PlannedLanding`. `verdict`, `cold` and
    `settled` are null when no replacement is created. `node` is the predicted one of `nodes`; `sampled` is set when the
    scheduler examines only some of the nodes and can miss it.
    """

    summary: str
    source: Literal["template", "live", "none"]
    returns: ReturnsWord
    verdict: LandingWord | None
    cold: LandingWord | None
    settled: LandingWord | None
    node: str | None
    nodes: tuple[str, ...]
    total: int
    margin: int | None
    node_cause: str
    is_sampled: bool = msgspec.field(name="sampled")
    returns_to_source: bool
    conditions: tuple[str, ...]
    message: str
    cause: str
    allocations: tuple[PlannedAllocation, ...]
    notes: tuple[str, ...]


_OPEN_SCORES = "some scores are not modelled, such as that of NodeNUMAResource for nodes with a NUMA topology policy"
_NOTHING_BACK = "no replacement pod is created"
_CHOSEN = "the plan chose the node (chooseNodes: true), and a Reservation holds room for the replacement pod there"


def explained_landing(landing: Landing, *, is_chosen: bool) -> ExplainedLanding:
    """One landing in plain values, with a sentence that sums it up; `is_chosen`: the plan chose its node."""
    replacement = landing.replacement
    is_judged = replacement.pod is not None
    notes = replacement.notes if is_judged else ()
    return ExplainedLanding(
        summary=_summary(landing),
        source=replacement.source,
        returns=replacement.answer.returns.value,
        verdict=landing.verdict.value if is_judged else None,
        cold=landing.cold.value if is_judged else None,
        settled=landing.verdict.value if is_judged else None,
        node=landing.node,
        nodes=landing.ties,
        total=landing.total,
        margin=landing.margin,
        node_cause=landing.open_cause,
        is_sampled=landing.is_sampled,
        returns_to_source=landing.returns_to_source,
        conditions=landing.conditions,
        message=landing.message,
        cause=landing.cause,
        allocations=planned_allocations(landing),
        notes=(*notes, *_of_choice(landing), *([_CHOSEN] if is_chosen else [])),
    )


def _of_choice(landing: Landing) -> Iterator[str]:
    """Why any of several nodes may be chosen, if that is unknown."""
    if landing.open_cause:
        yield f"which of the nodes that fit is chosen is unknown: {landing.open_cause}"
    elif landing.is_open:
        yield _OPEN_SCORES


def landing_message(landing: Landing) -> str:
    """What there is to say beside the verdict and the node; empty for a landing without conditions."""
    replacement = landing.replacement
    if replacement.pod is None:
        return replacement.unmovable or replacement.answer.loss or _nothing_back(replacement.answer.cause)
    return landing.message or "; ".join(landing.conditions)


def _nothing_back(cause: str) -> str:
    return f"{_NOTHING_BACK}: {cause}" if cause else _NOTHING_BACK


def _summary(landing: Landing) -> str:
    replacement = landing.replacement
    if replacement.pod is None:
        return landing_message(landing)
    if replacement.barred:
        return _nothing_back(replacement.barred)
    match landing.verdict:
        case LandingVerdict.NO if landing.preemption:
            return f"the replacement pod can be scheduled by preemption alone: {landing.message}"
        case LandingVerdict.NO:
            return f"the replacement pod would stay pending: {landing.message}"
        case LandingVerdict.UNKNOWN:
            return f"unknown whether the replacement pod can be scheduled: {landing.message}"
        case verdict:
            return _landed(landing, is_likely=verdict is LandingVerdict.LIKELY)


def _landed(landing: Landing, *, is_likely: bool) -> str:
    again = ", the node of the pod itself" if landing.returns_to_source else ""
    parts = [f"the replacement pod {'is likely' if is_likely else 'can be'} scheduled onto {landing.node}{again}"]
    if len(landing.ties) > 1:
        others = len(landing.ties) - 1
        rank = "that may have the higher score" if landing.is_open else "of equal score"
        rank = f"that fit{'s' if others == 1 else ''}" if landing.open_cause else rank
        parts.append(f"or on {'another node' if others == 1 else f'{others} other nodes'} {rank}")
    if landing.cold is LandingVerdict.NO:
        parts.append("but only once the pod is gone")
    if landing.conditions:
        parts.append(f"under a condition: {'; '.join(landing.conditions)}")
    return f"{', '.join(parts)}; {landing.cause}" if is_likely else ", ".join(parts)


def verdict_word(landing: Landing) -> LandingWord | None:
    """The verdict in the words of documents; None where no replacement is created."""
    return None if landing.replacement.pod is None else landing.verdict.value


def count_landings(landings: Iterable[Landing]) -> tuple[LandingCount, ...]:
    """One entry a verdict, the most frequent first."""
    counts = Counter(map(verdict_word, landings))
    in_order = sorted(counts.items(), key=lambda item: (-item[1], item[0] or ""))
    return tuple(LandingCount(verdict=verdict, num_pods=number) for verdict, number in in_order)


_COUNTED: dict[LandingWord | None, str] = {
    "lands": "can be scheduled",
    "lands_if": "under a condition",
    "likely": "likely",
    "unknown": "unknown",
    "no": "would stay pending",
    None: "not created",
}


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

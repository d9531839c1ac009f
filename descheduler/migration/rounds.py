"""Carries a plan out, and decides anew where the API server refused what the plan had counted on.

Upstream learns of a refusal while a strategy runs and lets the strategy choose another pod. Here the plan is complete
before the first call, so unforeseen refusals become known answers of a second decision over the same snapshot: what
was evicted stays evicted and counted, what was refused stays refused, and only what is new is carried out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from descheduler.eviction.answers import BACKGROUND_TEXT, Answers, EvictionAnswer
from descheduler.eviction.evictor import BookedEviction
from descheduler.migration.executor import execute
from descheduler.migration.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.migration.planned import PlannedEviction
from descheduler.migration.ports import EvictPort, OutcomeSink
from descheduler.migration.settings import ExecutorSettings
from descheduler.model.pod import REQUEST_EVICT_ONLY_ANNOTATION
from descheduler.strategies.decisions import Decisions

__all__ = ["MAX_ROUNDS", "Decide", "carry_out"]

MAX_ROUNDS = 5
"""A bound only: each further round needs a refusal of a pod that was never asked for before."""

Decide = Callable[[Answers, AbstractSet[str]], Decisions]
"""Decides over the run's snapshot, given refusals that are known and keys of pods that were evicted."""


def carry_out(
    decide: Decide, port: EvictPort, settings: ExecutorSettings, *, stop: threading.Event, sink: OutcomeSink | None
) -> tuple[Decisions, tuple[Outcome, ...]]:
    """The last decisions and the outcome of every request, repeated ones of the last round included.

    Raises what `execute` raises.
    """
    decisions = decide({}, frozenset())
    outcomes: dict[str, Outcome] = {}
    for _ in range(MAX_ROUNDS):
        new = [_planned(booked) for booked in decisions.evictor.booked if _is_new(booked, outcomes)]
        latest = execute(new, port, settings, stop=stop, sink=sink)
        outcomes.update({f"{o.eviction.namespace}/{o.eviction.name}": o for o in latest})
        if stop.is_set() or not any(_said_no(outcome) for outcome in latest):
            break
        answers = {key: answer for key, outcome in outcomes.items() if (answer := _answer(outcome)) is not None}
        decisions = decide(answers, frozenset(key for key, outcome in outcomes.items() if _used_up(outcome)))
    return decisions, (*outcomes.values(), *_repeated(decisions))


def _said_no(outcome: Outcome) -> bool:
    """Whether nothing was evicted, so that limits are free for another pod."""
    if outcome.code is OutcomeCode.OUTCOME_UNKNOWN:
        return False
    return outcome.kind in (OutcomeKind.REFUSED, OutcomeKind.FAILED, OutcomeKind.GONE)


def _answer(outcome: Outcome) -> EvictionAnswer | None:
    if outcome.kind is OutcomeKind.BACKGROUND:
        return EvictionAnswer(429, BACKGROUND_TEXT)
    return EvictionAnswer(outcome.status_code, outcome.message) if _said_no(outcome) else None


def _used_up(outcome: Outcome) -> bool:
    """Whether the pod left or may leave, which limits and budgets have to bear."""
    return outcome.kind is OutcomeKind.EVICTED or outcome.code is OutcomeCode.OUTCOME_UNKNOWN


def _is_new(booked: BookedEviction, outcomes: Mapping[str, Outcome]) -> bool:
    return not booked.is_repeated and booked.pod.key not in outcomes


def _planned(booked: BookedEviction) -> PlannedEviction:
    pod = booked.pod
    return PlannedEviction(
        namespace=pod.namespace,
        name=pod.name,
        uid=pod.uid,
        node=pod.node_name,
        profile=booked.profile,
        plugin=booked.plugin,
        repeated=booked.is_repeated,
        request_evict_only=REQUEST_EVICT_ONLY_ANNOTATION in pod.annotations,
    )


def _repeated(decisions: Decisions) -> Iterator[Outcome]:
    """Further requests for pods of the plan: reported, never sent."""
    for booked in decisions.evictor.booked:
        if booked.is_repeated:
            message = f"pod {booked.pod.key} was requested before in this run"
            yield Outcome(_planned(booked), OutcomeKind.NOT_ATTEMPTED, OutcomeCode.REPEATED, message)

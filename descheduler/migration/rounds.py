"""Carries a plan out, and decides again where the API server refused what the plan had counted on.

Upstream learns of a refusal while a strategy runs and lets the strategy choose another pod. Here the plan is complete
before the first call, so unforeseen refusals become known answers of a second decision over the same snapshot: what
was evicted stays evicted and counted, what was refused stays refused, and only what is new is carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from descheduler.eviction.background import BACKGROUND_TEXT, Answers, EvictionAnswer
from descheduler.migration.dispatch.limits import LimitLedger
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.ports import EvictPort
from descheduler.migration.roads.plain import execute
from descheduler.migration.settings import DispatchSettings
from descheduler.model.pod import REQUEST_EVICT_ONLY_ANNOTATION
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction, PlannedRoom

if TYPE_CHECKING:  # which policies of upstream go without
    from descheduler.migration.roads.care import Care

MAX_ROUNDS = 50
"""A bound on deciding again. Each further round needs a refusal of a pod that was never asked for before, so a run gets
here only under a tight limit and with dozens of unforeseen refusals in a row."""

MAX_FAULTY_ROUNDS = 3
"""A bound on deciding again after calls without a clear answer, each of which takes the time in which such a call can
still take effect."""

_STOPS = frozenset({OutcomeCode.STOPPED, OutcomeCode.LEASE_LOST})

Decide = Callable[[Answers, Sequence[Move]], Decisions]
"""Decides over the run's snapshot, given refusals that are known and the moves of pods that left or are about to."""


class JobCarrier(Protocol):
    """Carries evictions out as jobs that outlast the run; see `descheduler.migration.roads.execution`."""

    def takes(self, eviction: PlannedEviction) -> bool:
        """Whether `eviction` is carried out as a job."""

    def execute(self, evictions: Sequence[PlannedEviction], ledger: LimitLedger) -> tuple[Outcome, ...]:
        """One outcome for each of `evictions`, all of which it takes, within the limits of `ledger`."""


def carry_out(
    decide: Decide,
    port: EvictPort,
    settings: DispatchSettings,
    around: Surroundings,
    jobs: JobCarrier | None = None,
    care: Callable[[], Care] | None = None,
) -> tuple[Decisions, tuple[Outcome, ...]]:
    """The last decisions and the outcome of every planned eviction of all rounds, one a pod.

    What `jobs` takes is carried out by it, after the rest of its round, which is carried out with `care`. Both go by
    what is `around` them, so that all rounds share one pace. Raises what the first call of `decide` raises.
    """
    decisions = decide({}, ())
    outcomes: dict[str, Outcome] = {}
    made: dict[str, Move] = {}
    num_faulty = 0
    for num_rounds in range(1, MAX_ROUNDS + 1):
        new = [move for move in decisions.leaving if _is_new(move, outcomes, settings)]
        made.update({move.pod.key: move for move in new})
        plan = [_planned(move, settings) for move in new]
        if around.sink is not None:
            around.sink.planned(len(outcomes.keys() | {move.pod.key for move in new}))
        by_jobs, plainly = _divided(plan, jobs)
        ledger = LimitLedger(settings.limits)
        latest = execute(plainly, port, settings, around, care, ledger)
        if jobs is not None and by_jobs:
            latest += jobs.execute(by_jobs, ledger)
        outcomes.update({f"{o.eviction.namespace}/{o.eviction.name}": o for o in latest})
        num_faulty += any(outcome.code.is_fault for outcome in latest)
        is_free = any(outcome.kind.frees_limits for outcome in latest)
        if _is_stopped(around) or not is_free or any(outcome.code.ends_run for outcome in latest):
            break
        if note := _reason_to_give_up(num_rounds, num_faulty):
            decisions = replace(decisions, notes=(*decisions.notes, note))
            break
        answers = {key: answer for key, outcome in outcomes.items() if (answer := _answer(outcome)) is not None}
        try:
            decisions = decide(answers, [made[key] for key, outcome in outcomes.items() if outcome.kind.uses_limits])
        except Exception as error:  # pods are evicted already, which has to be reported whatever this is
            note = f"could not select other pods after refusals: internal error ({type(error).__name__})"
            decisions = replace(decisions, notes=(*decisions.notes, note))
            break
    return decisions, tuple(outcomes.values())


def _is_stopped(around: Surroundings) -> bool:
    """Whether a signal or the loss of the Lease has ended the run."""
    halted = around.halted()
    return halted is not None and halted[0] in _STOPS


def _divided(
    plan: Sequence[PlannedEviction], jobs: JobCarrier | None
) -> tuple[list[PlannedEviction], list[PlannedEviction]]:
    """The evictions of `plan` that are carried out as jobs, and the others."""
    by_jobs, plainly = list[PlannedEviction](), list[PlannedEviction]()
    for eviction in plan:
        (by_jobs if jobs is not None and jobs.takes(eviction) else plainly).append(eviction)
    return by_jobs, plainly


def _reason_to_give_up(num_rounds: int, num_faulty: int) -> str:
    """Why no other pods are looked for after so many rounds, so many of them with faults of the server; else ""."""
    if num_faulty == MAX_FAULTY_ROUNDS:
        return f"stopped selecting other pods after {MAX_FAULTY_ROUNDS} rounds with server errors; see the results"
    if num_rounds == MAX_ROUNDS:
        return f"stopped selecting other pods after {MAX_ROUNDS} rounds with refusals; the next run continues"
    return ""


def _answer(outcome: Outcome) -> EvictionAnswer | None:
    if outcome.kind is OutcomeKind.BACKGROUND:  # others were asked by this program, which is no refusal
        return EvictionAnswer(429, BACKGROUND_TEXT) if outcome.status_code == 429 else None
    return EvictionAnswer(outcome.status_code, outcome.message) if outcome.kind.frees_limits else None


def _is_new(move: Move, outcomes: Mapping[str, Outcome], settings: DispatchSettings) -> bool:
    """Whether it is still to be carried out.

    So is what only a dry profile had asked for, once another one does, and what was left out with others of its bundle.
    """
    outcome = outcomes.get(move.pod.key)
    if outcome is None:
        return True
    if outcome.code is OutcomeCode.BUNDLE:
        return True
    return outcome.code is OutcomeCode.DRY_RUN and not settings.terms_of(move.profile).is_dry


def _planned(move: Move, settings: DispatchSettings) -> PlannedEviction:
    pod, terms = move.pod, settings.terms_of(move.profile)
    grace_period_seconds = terms.grace_period_seconds
    return PlannedEviction(
        namespace=pod.namespace,
        name=pod.name,
        uid=pod.uid,
        node=pod.node_name,
        profile=move.profile,
        plugin=move.plugin,
        reason=move.reason,
        landing=move.landing,
        request_evict_only=REQUEST_EVICT_ONLY_ANNOTATION in pod.annotations,
        grace_period_seconds=settings.grace_period_seconds if grace_period_seconds is None else grace_period_seconds,
        dry=terms.is_dry,
        bundle=move.bundle,
        wave=move.wave,
        controller=pod.controller,
        labels=pod.labels,
        held_on=move.held_on,
        rooms=tuple(
            PlannedRoom(room.pod.namespace, room.pod.name, room.pod.uid, room.node)
            for room in move.rooms
            if not room.pod.node_name
        ),
    )

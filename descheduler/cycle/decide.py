"""Policy and snapshot in, every decision with its reason out: what dry runs, live runs and `evaluate` share. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from descheduler.cluster.loading import settled_gc
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.asking import PluginAnswers, ask_until_safe, in_waves
from descheduler.cycle.observer import UNOBSERVED, PluginObserver
from descheduler.cycle.options import EVICTIONS_IN_BACKGROUND, MOST_ASSESSED
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.profiles import ProfilesRun, request_chosen, run_profiles
from descheduler.cycle.recent_moves import moves_in
from descheduler.eviction.answers import Answers
from descheduler.eviction.checks.scope import EVERYWHERE, Scope
from descheduler.eviction.checks.table import REQUEST_CHECKS, MakeCheck
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.evictor import Evictor
from descheduler.eviction.evictor_maker import make_evictor
from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.profiles import migration_notes
from descheduler.eviction.node_fit import NodeFit
from descheduler.eviction.placement_verification.in_any_order import NOTHING_HELD_BACK, HeldBack
from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.placement_verification.placement_verification import verification_notes
from descheduler.eviction.placement_verification.together import judge_together
from descheduler.eviction.run_notes import limit_notes, notes_after
from descheduler.model.node import Node
from descheduler.model.selection.labels import EVERYTHING
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import EarlierPlan, Move
from descheduler.plan.run_memory import NO_MEMORY, RunMemory
from descheduler.plan.search_watch import UNWATCHED, SearchWatch
from descheduler.policy.plugin import Registry
from descheduler.policy.plugin_faults import collected_faults, contained
from descheduler.policy.priority_thresholds import resolve_priority_thresholds
from descheduler.policy.types import Policy

__all__ = ["MOST_PROVED", "decide", "decisions_of"]

MOST_PROVED = 500
"""Evictions that are judged together once more; each is played through several times, at a millisecond each."""
_LEAST_NODES = 2
_SHARE_ONCE_MORE = 0.25
"""Of the limits of a search: what planners have each time that they are asked once more."""


def decide(
    policy: Policy,
    snapshot: Snapshot,
    *,
    now: datetime,
    answers: Answers | None = None,
    prior_moves: Sequence[Move] = (),
    feature_gates: Mapping[str, bool] | None = None,
    registry: Registry = REGISTRY,
    processed_nodes: Sequence[Node] | None = None,
    observer: PluginObserver = UNOBSERVED,
    scope: Scope = EVERYWHERE,
    memory: RunMemory = NO_MEMORY,
    checks: Sequence[MakeCheck] = REQUEST_CHECKS,
    most_assessed: int = MOST_ASSESSED,
    most_proved: int = MOST_PROVED,
    chosen: Sequence[Move] | None = None,
    evicted_before: Sequence[Move] = (),
    search: SearchWatch = UNWATCHED,
    earlier: EarlierPlan | None = None,
) -> Decisions:
    """Runs all plugins of `policy` over `snapshot` and books what may go. No I/O; the same input gives the same answer.

    `answers` are refusals of the eviction API that are known already, `prior_moves` the evictions that earlier
    decisions of this run over the same snapshot have led to. `processed_nodes` are handed to the plugins as they are;
    without them it is the ready nodes that the policy selects, of which there must be two. `observer` is told of every
    run of a plugin. `memory` is what the run before left. Pods out of `scope` stay, and count for the plugins as ever;
    `checks` are asked of every request, in this order. Landings of the first `most_assessed` evictions that no plugin
    verifies are looked up for the report, and up to `most_proved` evictions are judged together, which changes no
    decision. `chosen` are asked for in place of what the plugins select, which do not run then. `evicted_before`
    is what this run has evicted before `snapshot` was taken, which counts against limits. `search` looks on at planners
    that search, and may end that; with `earlier` they ask for their moves of that plan in place of a search. Raises
    PolicyError when a PriorityClass that the policy names does not exist.
    """
    policy = resolve_priority_thresholds(
        policy, {name: priority.value for name, priority in snapshot.priority_classes.items()}
    )
    recent_moves, move_notes = moves_in(memory, policy)
    notes = (
        *migration_notes(policy),
        *limit_notes(policy, snapshot),
        *move_notes,
        *verification_notes(policy),
        *scope.note_on(snapshot),
    )

    def ask(held_back: HeldBack) -> PluginAnswers:
        view = ClusterView(
            snapshot, moves_take_effect=policy.kind == "DeschedulerConfiguration", prior_moves=prior_moves
        )
        handle = Handle(policy, view, NodeFit(view, spares_namesakes=policy.compatibility == "upstream"), now)
        evictor = make_evictor(
            handle,
            answers=answers,
            evictions_in_background=bool(feature_gates and feature_gates.get(EVICTIONS_IN_BACKGROUND)),
            scope=scope,
            checks=checks,
            recent_moves=recent_moves,
            evicted_before=evicted_before,
            held_back=held_back,
        )
        nodes = view.ready_nodes(policy.node_selector or EVERYTHING) if processed_nodes is None else processed_nodes
        if processed_nodes is None and len(nodes) < _LEAST_NODES:
            return PluginAnswers(evictor, ProfilesRun(), skipped=_too_few(policy, len(nodes)))
        if chosen is not None:
            return PluginAnswers(evictor, request_chosen(policy, registry, handle, evictor, chosen))
        return PluginAnswers(
            evictor,
            run_profiles(
                policy,
                registry,
                handle,
                evictor,
                nodes,
                observer=observer,
                memory=memory,
                search=search if held_back == NOTHING_HELD_BACK else replace(search, share=_SHARE_ONCE_MORE),
                earlier=earlier,
            ),
        )

    with settled_gc(), contained(), collected_faults() as faults:
        evicted = [move.pod for move in prior_moves]
        asked = ask_until_safe(ask, policy, evicted, observer)
        if asked.skipped:
            decisions = decisions_of(asked.evictor, policy, snapshot, now)
            return replace(decisions, skipped=asked.skipped, memory=memory, notes=notes)
        landings = asked.evictor.landings
        landings.assess(most_assessed)
        together = judge_together(landings, most_proved, asked.waves)
    run = asked.run
    run.note_faults(policy.profiles[0].name if policy.profiles else "", faults)
    decisions = in_waves(decisions_of(asked.evictor, policy, snapshot, now), asked.waves)
    return replace(
        decisions,
        together=together,
        failures=tuple(run.failures),
        facts=run.facts,
        memory=memory.after(now, run.notes),
        notes=(*notes, *notes_after(policy, decisions, snapshot)),
    )


def _too_few(policy: Policy, number: int) -> str:
    """Why no plugin runs, with the key of the policy that decides, if it is set."""
    found = "only 1 ready node matches" if number else "no ready node matches"
    selector = "the policy" if policy.node_selector_spec is None else "nodeSelector"
    if isinstance(policy.node_selector_spec, str):
        selector += f" ({policy.node_selector_spec})"
    return f"{found} {selector}; at least {_LEAST_NODES} are required"


def decisions_of(evictor: Evictor, policy: Policy, snapshot: Snapshot, now: datetime) -> Decisions:
    """What `evictor` has booked and refused so far, with the landings that are known by now."""
    book, landings = evictor.book, evictor.landings
    return Decisions(
        policy,
        snapshot,
        now,
        moves=_landed(book.moves, landings),
        background=_landed(book.background, landings),
        num_background=evictor.num_background,
        refusals=book.refusals,
        results=dict(book.results),
        is_verified=landings.is_verifying,
    )


def _landed(moves: Iterable[Move], landings: LandingBook) -> tuple[Move, ...]:
    """The moves with the landings that are known by now."""
    known = ((move, landings.landing_of(move.pod)) for move in moves)
    return tuple(move if landing is None else replace(move, landing=landing) for move, landing in known)

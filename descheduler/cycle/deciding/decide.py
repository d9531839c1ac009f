"""Policy and snapshot in, every decision with its reason out: what dry runs, live runs and `evaluate` share. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import partial

from msgspec.structs import replace

from descheduler.cluster.loading import settled_gc
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.asking import PluginAnswers, ask_until_safe, in_waves
from descheduler.cycle.deciding.profiles import (
    ProfilesRun,
    ProfileSurroundings,
    measure_profiles,
    request_chosen,
    run_profiles,
)
from descheduler.cycle.deciding.round import DecideAgain, Round, RunSetting
from descheduler.cycle.options import EVICTIONS_IN_BACKGROUND
from descheduler.cycle.recent_moves import moves_in
from descheduler.eviction.checks.table import make_evictor
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.cordons import cordon_notes, with_cordons
from descheduler.eviction.evictor import Evictor
from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.profiles import migration_notes
from descheduler.eviction.node_fit import NodeFit
from descheduler.eviction.placement_verification.in_any_order import HeldBack
from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.placement_verification.placement_verification import verification_notes
from descheduler.eviction.placement_verification.together import judge_together
from descheduler.eviction.run_notes import limit_notes, notes_after, shard_notes
from descheduler.model.selection.labels import EVERYTHING
from descheduler.model.text.counted import counted
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.plan.recent_moves import RecentMoves
from descheduler.policy.plugin_faults import collected_faults, contained
from descheduler.policy.priority_thresholds import resolve_priority_thresholds
from descheduler.policy.types import Policy

_LEAST_NODES = 2
_PLAIN, _FIRST = RunSetting(), Round()


def decide(
    policy: Policy, snapshot: Snapshot, *, now: datetime, setting: RunSetting = _PLAIN, this_round: Round = _FIRST
) -> Decisions:
    """Runs all plugins of `policy` over `snapshot` and books what may go. No I/O; the same input gives the same answer.

    Raises PolicyError when a PriorityClass that the policy names does not exist.
    """
    policy = resolve_priority_thresholds(
        policy, {name: priority.value for name, priority in snapshot.priority_classes.items()}
    )
    snapshot = with_cordons(policy, snapshot, setting.registry)
    recent_moves, move_notes = moves_in(setting.memory, policy)
    notes = (
        *migration_notes(policy),
        *limit_notes(policy, snapshot),
        *move_notes,
        *verification_notes(policy),
        *setting.scope.note_on(snapshot),
        *shard_notes(policy, snapshot),
    )
    ask = partial(_ask, policy, snapshot, now, setting, this_round, recent_moves)
    with settled_gc(), contained(), collected_faults() as faults:
        evicted = [move.pod for move in this_round.prior_moves]
        asked = ask_until_safe(ask, policy, evicted, this_round.observer)
        if asked.skipped:
            decisions = decisions_of(asked.evictor, policy, snapshot, now)
            return replace(decisions, skipped=asked.skipped, memory=setting.memory, notes=notes)
        landings = asked.evictor.landings
        landings.assess(this_round.most_assessed)
        together = judge_together(landings, this_round.most_proved, asked.waves)
    run = asked.run
    run.note_faults(policy.profiles[0].name if policy.profiles else "", faults)
    decisions = in_waves(decisions_of(asked.evictor, policy, snapshot, now), asked)
    return replace(
        decisions,
        together=together,
        failures=tuple(run.failures),
        facts=run.facts,
        memory=setting.memory.after(now, run.notes),
        notes=(
            *notes,
            *landings.assumed,
            *notes_after(policy, decisions, snapshot),
            *cordon_notes(decisions),
        ),
    )


def _ask(
    policy: Policy,
    snapshot: Snapshot,
    now: datetime,
    setting: RunSetting,
    this_round: Round,
    recent_moves: RecentMoves,
    held_back: HeldBack,
    *,
    share: float = 1.0,
    puts_ahead: bool = False,
) -> PluginAnswers:
    """What comes of asking all plugins, with a new evictor, where `held_back` is refused: see `Ask`.

    With `puts_ahead` what finds no room may have it in an earlier wave.
    """
    view = ClusterView(
        snapshot, moves_take_effect=policy.kind == "DeschedulerConfiguration", prior_moves=this_round.prior_moves
    )
    handle = Handle(policy, view, NodeFit(view, spares_namesakes=policy.compatibility == "upstream"), now)
    evictor = make_evictor(
        handle,
        answers=this_round.answers,
        evictions_in_background=setting.feature_gates.get(EVICTIONS_IN_BACKGROUND, False),
        scope=setting.scope,
        checks=this_round.checks,
        recent_moves=recent_moves,
        evicted_before=setting.evicted_before,
        held_back=held_back,
    )
    nodes = setting.processed_nodes
    if nodes is None:
        nodes = view.ready_nodes(policy.node_selector or EVERYTHING)
        if len(nodes) < _LEAST_NODES:
            return PluginAnswers(evictor, ProfilesRun(), skipped=_too_few(policy, len(nodes), snapshot))
    if this_round.chosen is not None:
        return PluginAnswers(evictor, request_chosen(ProfileSurroundings(handle, evictor, setting), this_round.chosen))
    if this_round.measures:
        return PluginAnswers(evictor, measure_profiles(ProfileSurroundings(handle, evictor, setting, nodes=nodes)))
    setting = replace(setting, search=replace(setting.search, share=share))
    return PluginAnswers(
        evictor, run_profiles(ProfileSurroundings(handle, evictor, setting, this_round, nodes, puts_ahead))
    )


def decide_again(
    snapshot: Snapshot, *, now: datetime, setting: RunSetting = _PLAIN, this_round: Round = _FIRST
) -> DecideAgain:
    """Decides as `decide` did, but for the policy and the checks."""
    return lambda policy, checks, earlier: decide(
        policy, snapshot, now=now, setting=setting, this_round=this_round.once_more(checks, earlier)
    )


def _too_few(policy: Policy, number: int, snapshot: Snapshot) -> str:
    """Why no plugin runs, with the key of the policy that decides, if it is set."""
    found = "only 1 ready node matches" if number else "no ready node matches"
    selector = "the policy" if policy.node_selector_spec is None else "nodeSelector"
    if isinstance(policy.node_selector_spec, str):
        selector += f" ({policy.node_selector_spec})"
    required = f"at least {_LEAST_NODES} are required"
    shard = snapshot.shard
    if shard.is_whole:
        return f"{found} {selector}; {required}"
    nodes = f"{shard.num_owned(snapshot.nodes):,} of {counted(len(snapshot.nodes), 'node')}"
    way_out = "use fewer --shards, or another --shard-by"
    return f"{found} {selector} in {shard.whole_name} ({nodes}); {required}: {way_out}"


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

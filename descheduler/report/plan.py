"""From the decisions of a cycle to the document `Plan`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.plan import moves
from descheduler.plan.decisions import BACKGROUND, SUCCESS, Decisions
from descheduler.report.document import API_VERSION, PodReference
from descheduler.report.facts import make_facts
from descheduler.report.figures import make_figures
from descheduler.report.identities import policy_identity, snapshot_identity
from descheduler.report.landings import landing_totals, planned_landing
from descheduler.report.plan_document import (
    BackgroundEviction,
    Failure,
    Move,
    Plan,
    PlannedRefusal,
    PluginFigures,
    RefusalCount,
)

__all__ = ["Plan", "make_plan"]

_SUMMARIES = {str(reason.value): reason.summary for reason in Reason}
_ONLY_WAVE = 1
"""Moves are not ordered among themselves: each is safe whichever others have been made."""


def make_plan(decisions: Decisions) -> Plan:
    """The document that says everything `decisions` hold. The same decisions give the same document."""
    policy = decisions.policy
    refusals = tuple(_refusal(refusal) for refusal in decisions.refusals)
    return Plan(
        api_version=API_VERSION,
        kind="Plan",
        now=decisions.now,
        policy=policy_identity(policy),
        snapshot=snapshot_identity(decisions.snapshot, decisions.now),
        skipped=decisions.skipped,
        moves=tuple(map(_move, decisions.moves)),
        landings=landing_totals(decisions),
        background=tuple(map(_background, decisions.background)),
        num_background=decisions.num_background,
        refusals=refusals,
        refusal_counts=_refusal_counts(refusals),
        plugins=tuple(_plugin_figures(decisions)),
        figures=make_figures(decisions.snapshot, (move.pod for move in decisions.leaving)),
        failures=tuple(Failure(profile=f.profile, plugin=f.plugin, message=f.message) for f in decisions.failures),
        warnings=(*(str(problem) for problem in policy.warnings), *decisions.notes, *decisions.snapshot.warnings),
    )


def _reference(pod: Pod) -> PodReference:
    return PodReference(namespace=pod.namespace, name=pod.name, uid=pod.uid)


def _move(move: moves.Move) -> Move:
    return Move(
        pod=_reference(move.pod),
        from_node=move.pod.node_name,
        to_node=move.to_node,
        landing=None if move.landing is None else planned_landing(move.landing),
        profile=move.profile,
        plugin=move.plugin,
        reason=move.reason,
        wave=_ONLY_WAVE,
        is_repeated=move.is_repeated,
    )


def _background(move: moves.Move) -> BackgroundEviction:
    return BackgroundEviction(
        pod=_reference(move.pod),
        node=move.pod.node_name,
        profile=move.profile,
        plugin=move.plugin,
        reason=move.reason,
    )


def _refusal(refusal: moves.Refusal) -> PlannedRefusal:
    verdict = refusal.verdict
    return PlannedRefusal(
        pod=_reference(refusal.pod),
        node=refusal.pod.node_name,
        profile=refusal.profile,
        plugin=refusal.plugin,
        code=str((verdict.reason or Reason.UNSET).value),
        message=verdict.message,
        subject=verdict.subject,
        is_attempt=refusal.is_attempt,
    )


def _refusal_counts(refusals: Sequence[PlannedRefusal]) -> tuple[RefusalCount, ...]:
    """One entry a reason, the most frequent first."""
    counts = Counter(refusal.code for refusal in refusals)
    attempts = Counter(refusal.code for refusal in refusals if refusal.is_attempt)
    return tuple(
        RefusalCount(code=code, summary=_SUMMARIES[code], num_refusals=num_refusals, num_attempts=attempts[code])
        for code, num_refusals in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )


def _plugin_figures(decisions: Decisions) -> Iterator[PluginFigures]:
    """One entry a plugin that was to run, in running order, also for those that found nothing."""
    refused: dict[tuple[str, str], dict[str, int]] = {}
    for (profile, plugin, result), num_answers in sorted(decisions.results.items()):
        if result not in (SUCCESS, BACKGROUND):
            refused.setdefault((profile, plugin), {})[result] = num_answers
    profiles = decisions.policy.profiles
    runs = [(profile.name, plugin) for profile in profiles for plugin in profile.deschedule]
    runs += [(profile.name, plugin) for profile in profiles for plugin in profile.balance]
    for profile, plugin in dict.fromkeys(runs):
        evicted = decisions.results.get((profile, plugin, SUCCESS), 0)
        background = decisions.results.get((profile, plugin, BACKGROUND), 0)
        blocked = refused.get((profile, plugin), {})
        facts = decisions.facts.get((profile, plugin))
        yield PluginFigures(
            profile=profile,
            plugin=plugin,
            evicted=evicted,
            background=background,
            refused=blocked,
            facts=None if facts is None else make_facts(facts, evicted=evicted + background, refused=blocked),
        )

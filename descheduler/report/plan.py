"""From the decisions of a cycle to the document `Plan`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from descheduler.eviction.evictor import BookedEviction, Evictor, Refusal
from descheduler.eviction.landing_book import LandingBook
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.policy.types import Policy
from descheduler.report.document import API_VERSION, PodReference
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
from descheduler.strategies.decisions import Decisions

__all__ = ["Plan", "make_plan"]

_EVICTED = "success"
_BACKGROUND = "background"
_SUMMARIES = {str(reason.value): reason.summary for reason in Reason}
_ONLY_WAVE = 1
"""Moves are not ordered among themselves: each is safe whichever others have been made."""


def make_plan(decisions: Decisions) -> Plan:
    """The document that says everything `decisions` hold. The same decisions give the same document."""
    evictor, policy = decisions.evictor, decisions.policy
    refusals = tuple(_refusal(refusal) for refusal in evictor.refusals)
    leaving = (booked.pod for booked in evictor.booked if not booked.is_repeated)
    return Plan(
        api_version=API_VERSION,
        kind="Plan",
        now=decisions.now,
        policy=policy_identity(policy),
        snapshot=snapshot_identity(decisions.snapshot, decisions.now),
        skipped=decisions.skipped,
        moves=tuple(_move(booked, evictor.landings) for booked in evictor.booked),
        landings=landing_totals(evictor),
        background=tuple(_background(booked) for booked in evictor.background),
        num_background=evictor.num_background,
        refusals=refusals,
        refusal_counts=_refusal_counts(refusals),
        plugins=tuple(_plugin_figures(policy, evictor)),
        figures=make_figures(decisions.snapshot, leaving),
        failures=tuple(Failure(profile=f.profile, plugin=f.plugin, message=f.message) for f in decisions.failures),
        warnings=(*(str(problem) for problem in policy.warnings), *decisions.notes, *decisions.snapshot.warnings),
    )


def _reference(pod: Pod) -> PodReference:
    return PodReference(namespace=pod.namespace, name=pod.name, uid=pod.uid)


def _move(booked: BookedEviction, landings: LandingBook) -> Move:
    landing = landings.landing_of(booked.pod)
    return Move(
        pod=_reference(booked.pod),
        from_node=booked.pod.node_name,
        to_node=None if landing is None else landing.node,
        landing=None if landing is None else planned_landing(landing),
        profile=booked.profile,
        plugin=booked.plugin,
        reason=booked.reason,
        wave=_ONLY_WAVE,
        is_repeated=booked.is_repeated,
    )


def _background(booked: BookedEviction) -> BackgroundEviction:
    return BackgroundEviction(
        pod=_reference(booked.pod),
        node=booked.pod.node_name,
        profile=booked.profile,
        plugin=booked.plugin,
        reason=booked.reason,
    )


def _refusal(refusal: Refusal) -> PlannedRefusal:
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


def _plugin_figures(policy: Policy, evictor: Evictor) -> Iterator[PluginFigures]:
    """One entry a plugin that was to run, in running order, also for those that found nothing."""
    refused: dict[tuple[str, str], dict[str, int]] = {}
    for (profile, plugin, result), num_answers in sorted(evictor.results.items()):
        if result not in (_EVICTED, _BACKGROUND):
            refused.setdefault((profile, plugin), {})[result] = num_answers
    runs = [(profile.name, plugin) for profile in policy.profiles for plugin in profile.deschedule]
    runs += [(profile.name, plugin) for profile in policy.profiles for plugin in profile.balance]
    for profile, plugin in dict.fromkeys(runs):
        yield PluginFigures(
            profile=profile,
            plugin=plugin,
            evicted=evictor.results[profile, plugin, _EVICTED],
            background=evictor.results[profile, plugin, _BACKGROUND],
            refused=refused.get((profile, plugin), {}),
        )
